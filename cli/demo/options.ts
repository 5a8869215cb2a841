/** The command line of `npm run demo`. */
import { parseCommandArguments } from '../command.js';
import { UsageError } from '../errors.js';
import { faultScenarios } from './faults.js';
import type { FaultScenario } from './faults.js';

/** What the demo is asked for. */
export interface DemoOptions {
  readonly furtherOrders: number;
  readonly keep: boolean;
  readonly fault: FaultScenario | undefined;
}

const maxFurtherOrders = 10_000;

export const demoUsage = `Usage: npm run demo -- [options]

  --orders <n>      so many further good orders
  --keep            stay up afterwards, for npm run cli; Ctrl-C stops it
  --fault <name>    let something break meanwhile:
${Object.entries(faultScenarios)
  .map(([name, { story }]) => `                      ${name.padEnd(22)}${story}`)
  .join('\n')}
  --help`;

/**
 * Reads the arguments.
 *
 * @throws UsageError
 */
export function parseDemoOptions(args: readonly string[]): DemoOptions | 'help' {
  const { options } = parseCommandArguments(
    {
      options: {
        orders: { type: 'string' },
        keep: { type: 'boolean' },
        fault: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      positionals: { min: 0, max: 0 },
    },
    args,
  );
  if (options.flag('help')) return 'help';
  return {
    furtherOrders: options.count('orders', { min: 0, max: maxFurtherOrders }) ?? 0,
    keep: options.flag('keep'),
    fault: faultNamed(options.text('fault')),
  };
}

function faultNamed(name: string | undefined): FaultScenario | undefined {
  if (name === undefined) return undefined;
  if (Object.hasOwn(faultScenarios, name)) return faultScenarios[name];
  throw new UsageError(`There is no fault "${name}"; there are ${Object.keys(faultScenarios).join(', ')}.`);
}
