// The licences of the libraries that a bundle holds.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const licenceFile = /^(licen[cs]e|copying|notice)/i;
/** Licences that a package states neither in its package.json nor in a file of their own. */
const statedElsewhere = { semaphore: 'MIT (stated in its README)' };

/** The text of a notices file for the packages that these module files belong to; throws if one has no licence. */
export function thirdPartyNotices(moduleFiles) {
  const folders = new Set(moduleFiles.map(packageFolder).filter((folder) => folder !== undefined));
  const packages = [...folders].map(describePackage).sort((one, other) => one.title.localeCompare(other.title));
  const parts = packages.map(({ title, text }) => `${title}\n${'-'.repeat(title.length)}\n\n${text}\n`);
  return ['This software contains the following libraries.\n', ...parts].join('\n\n');
}

/** The folder of the installed package that holds the file; undefined for a file of the app. */
function packageFolder(file) {
  const match = /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(file);
  return match?.[0];
}

function describePackage(folder) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const licence = license ?? statedElsewhere[name];
  const texts = readdirSync(folder)
    .filter((file) => licenceFile.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (licence === undefined)
    throw new Error(`${name} ${version} states no licence; add it to ${import.meta.filename}.`);
  const facts = [`Licence: ${licence}`, ...(homepage === undefined ? [] : [`Homepage: ${homepage}`])];
  return { title: `${name} ${version}`, text: [facts.join('\n'), ...texts].join('\n\n') };
}
