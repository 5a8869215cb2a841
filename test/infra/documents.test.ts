import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../infra/cost/arguments.js';
import { countsSchema, pricesSchema } from '../../infra/cost/inputs.js';
import { monthlyCost } from '../../infra/cost/model.js';
import { costReport } from '../../infra/cost/report.js';
import { emulatorSettings } from '../../infra/emulators/index.js';
import { projectRoot } from './support/bicep.js';

function read(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}

const documents = ['deploy', 'security', 'networking', 'disaster-recovery', 'cost', 'bring-your-own-agent'];

describe('the deployment guide', () => {
  it('explains every parameter with its default', () => {
    const guide = read('docs/deploy.md');
    const parameters = [...read('infra/main.parameters.json').matchAll(/\$\{([A-Z_]+)(?:=([^}]*))?\}/g)];
    expect(parameters.length).toBeGreaterThan(25);
    for (const [, name, byDefault] of parameters) {
      const row = new RegExp(`^\\| \`${String(name)}\` +\\| ([^|]*[^| ]) +\\|`, 'm').exec(guide);
      expect(row, name).not.toBeNull();
      if (byDefault !== undefined && byDefault !== '') expect(row?.[1], name).toBe(`\`${byDefault}\``);
    }
  });

  it('names no parameter that does not exist', () => {
    const rows = [...read('docs/deploy.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => String(name));
    for (const name of rows) expect(read('infra/main.parameters.json')).toContain(`\${${name}`);
  });
});

describe('the cost page', () => {
  it('shows what `npm run cost` prints', () => {
    const { question } = parseArguments(['--orders', '1e6', '--steps', '3']);
    const prices = pricesSchema.parse(JSON.parse(read('infra/cost/prices.json')));
    const counts = countsSchema.parse(JSON.parse(read('infra/cost/counts.json')));
    const report = costReport(monthlyCost(question, counts, prices), question, counts, prices);
    const shown = report.slice(0, report.indexOf('A thousand orders')).trimEnd();
    expect(read('docs/cost.md')).toContain(shown);
  });
});

describe.each(documents)('docs/%s.md', (name) => {
  it('links only to files that exist', () => {
    const file = `docs/${name}.md`;
    const links = [...read(file).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) => String(link));
    for (const link of links.filter((item) => !item.startsWith('http'))) {
      expect(existsSync(join(projectRoot, dirname(file), link)), link).toBe(true);
    }
  });
});

describe("the emulators' README", () => {
  it('gives the settings that point the app at them', () => {
    const text = read('infra/emulators/README.md');
    expect(text).toContain(emulatorSettings.ServiceBusConnection);
    expect(text).toContain(emulatorSettings.COSMOS_ENDPOINT);
    // The key is the one in the sample.
    expect(read('local.settings.sample.json')).toContain(emulatorSettings.COSMOS_KEY);
  });
});
