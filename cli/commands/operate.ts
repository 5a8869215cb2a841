/** What an operator decides about an order that automation has given up. */
import type { Command, GivenOptions } from '../command.js';
import { UsageError } from '../errors.js';
import { createOrderApi } from '../orders/order-api.js';
import type { OperatorVerb } from '../orders/order-api.js';

/** A verb on the command line. */
export interface OperatorCommand {
  readonly verb: OperatorVerb;
  readonly summary: string;
  /** Whether it is about one step of the order. */
  readonly isAboutStep?: boolean;
}

/** The command of a verb. */
export function operatorCommand({ verb, summary, isAboutStep = false }: OperatorCommand): Command {
  const stepUsage = { call: ' --step <id>', help: '\n  --step <id>       the step whose undo it is about' };
  const { call, help } = isAboutStep ? stepUsage : { call: '', help: '' };
  return {
    summary,
    usage: `${verb} <orderId>${call} --reason <text>
${help}
  --reason <text>   why; it stays on the order's record`,
    options: { reason: { type: 'string' }, ...(isAboutStep ? { step: { type: 'string' } } : {}) },
    positionals: { min: 1, max: 1 },
    async run({ positionals: [orderId = ''], options }, { endpoints, screen }) {
      const step = isAboutStep ? { stepId: required(options, 'step') } : {};
      const request = { ...step, reason: required(options, 'reason') };
      const record = await createOrderApi(endpoints.app()).operate(verb, orderId, request);
      screen.print(`${orderId} is ${record.processState} now. Follow it: npm run cli -- watch ${orderId}`);
      return 0;
    },
  };
}

/** `intake`: an operator stops and reopens the door for all applications. */
export const intake: Command = {
  summary: 'pause or resume the intake of orders',
  usage: `intake <pause|resume> --reason <text>

  While it is paused, orders are rejected with the reason Busy; what was accepted goes on.

  --reason <text>   why; it stays on the control document`,
  options: { reason: { type: 'string' } },
  positionals: { min: 1, max: 1 },
  async run({ positionals: [verb], options }, { endpoints, screen }) {
    if (verb !== 'pause' && verb !== 'resume') throw new UsageError('intake takes pause or resume.');
    await createOrderApi(endpoints.app()).setIntake(verb, required(options, 'reason'));
    screen.print(`Intake will be ${verb}d with the next run of the starter.`);
    return 0;
  },
};

function required(options: GivenOptions, name: string): string {
  const value = options.text(name);
  if (value === undefined) throw new UsageError(`--${name} is missing.`);
  return value;
}
