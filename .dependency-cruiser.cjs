/** The dependency direction of docs/architecture.md, checked by `npm run boundaries`. */
const sdk = '^(node_modules/)?(@azure/(cosmos|service-bus|identity)|durable-functions)';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contracts-import-only-zod',
      severity: 'error',
      from: { path: '^functions/contracts/' },
      to: { pathNot: ['^functions/contracts/', 'node_modules/zod/'] },
    },
    {
      name: 'state-imports-only-contracts',
      severity: 'error',
      from: { path: '^functions/state/' },
      to: { pathNot: ['^functions/(state|contracts)/', 'node_modules/zod/'] },
    },
    {
      name: 'only-azure-calls-an-azure-sdk',
      comment: 'Function registration files may name durable-functions to register triggers and bindings.',
      severity: 'error',
      from: {
        path: '^functions/',
        pathNot: [
          '^functions/(azure/|on-queue\\.ts$)',
          '\\.function\\.ts$',
          '^functions/scheduler/(orchestrator|await-reply)\\.ts$',
        ],
      },
      to: { path: sdk, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-registration-files-use-the-functions-library',
      severity: 'error',
      from: { path: '^functions/', pathNot: ['\\.function\\.ts$', '^functions/(index|on-queue|telemetry/.*)\\.ts$'] },
      to: { path: 'node_modules/@azure/functions/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-services-builds-clients-and-reads-config',
      severity: 'error',
      from: {
        path: '^functions/',
        pathNot: ['^functions/(services|index|on-queue)\\.ts$', '^functions/(azure|config)/', '\\.function\\.ts$'],
      },
      to: { path: '^functions/(azure|config)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'roles-do-not-import-each-other',
      severity: 'error',
      from: { path: '^functions/(submit|scheduler|agents|supervisor|operator|demo)/' },
      to: {
        path: '^functions/(submit|scheduler|agents|supervisor|operator|demo)/',
        pathNot: '^functions/$1/',
      },
    },
    {
      name: 'orchestrator-reaches-only-contracts-state-and-durable',
      comment: 'Whatever the orchestrator reaches is replayed: it must be deterministic.',
      severity: 'error',
      from: { path: '^functions/scheduler/(orchestrator|await-reply)\\.ts$' },
      to: {
        reachable: true,
        path: '^(functions/(azure|config|telemetry|submit|agents|supervisor|status|operator|demo)/|functions/services)',
      },
    },
    {
      name: 'orchestrator-imports-no-node-module',
      severity: 'error',
      from: { path: '^functions/(scheduler/(orchestrator|await-reply)|contracts/.*|state/.*)\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'functions-know-nothing-of-the-tools',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(local|cli|client|test|bench)/' },
    },
    {
      name: 'local-knows-nothing-of-the-app',
      severity: 'error',
      from: { path: '^local/' },
      to: { path: '^(functions|cli|client|test|bench)/' },
    },
    {
      name: 'embedded-parts-are-self-contained',
      severity: 'error',
      from: { path: '^local/(service-bus|cosmos-db|functions-host)/' },
      to: { path: '^local/', pathNot: ['^local/$1/', '^local/(journal|faults)/index\\.ts$'] },
    },
    {
      name: 'embedded-parts-have-one-door',
      severity: 'error',
      from: { path: '^(local/[^/]+\\.ts|cli/|bench/)' },
      to: { path: '^local/(service-bus|cosmos-db|functions-host|journal|faults)/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'cli-uses-public-surfaces-only',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^functions/', pathNot: '^functions/contracts/' },
    },
    {
      name: 'client-knows-only-the-contracts',
      severity: 'error',
      from: { path: '^client/' },
      to: { path: '^(functions|local|cli|test|bench)/', pathNot: '^functions/contracts/' },
    },
    {
      name: 'no-dev-dependency-in-the-app',
      severity: 'error',
      from: { path: '^functions/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    exclude: { path: '^(dist|\\.local)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
