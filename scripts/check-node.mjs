// Ends with 1 and says what to do when these scripts run on a Node that is too old: `node scripts/check-node.mjs [version]`,
// without a version for the Node that runs. It must itself run on any Node.

const needed = 22; // @azure/cosmos
const version = process.argv[2] ?? process.versions.node;

if (Number(version.split('.')[0]) < needed) {
  console.error(`These scripts need Node ${needed} or newer, and Node ${version} runs them.
npm installs a newer one for them, the package "node", but its install script has not run here. Either let it run:

  npm rebuild node --ignore-scripts=false

or install Node ${needed} or newer yourself.`);
  process.exitCode = 1;
}
