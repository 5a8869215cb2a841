/** An agent of the tests: its remote service answers as it is told, time stands still, and waits are only noted. */
import { serveRequest } from '../../functions/agents/agent.js';
import type { AgentDeps } from '../../functions/agents/agent.js';
import { paymentAgent } from '../../functions/agents/payment-agent.js';
import { createRemoteGuards } from '../../functions/agents/remote-guards.js';
import type { RemoteCall, RemoteOutcome } from '../../functions/agents/remote-service.js';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { createManualClock, startOfTime } from './manual-clock.js';
import type { ManualClock } from './manual-clock.js';
import { createRecordingTelemetry } from './recording.js';
import type { RecordingTelemetry } from './recording.js';

/** A request of the payment step with four seconds left and three calls allowed. */
export const paymentRequest: AgentRequest = {
  schemaVersion: 1,
  requestId: 'A-1.2.payment',
  orderId: 'A-1',
  attempt: 2,
  stepId: 'payment',
  action: 'do',
  completeBy: addMs(startOfTime, 4_000),
  callAllowance: 3,
  idempotencyKey: 'A-1.payment',
  fencingToken: 2,
  replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11',
  payload: { amountMinor: 3998 },
  traceparent: null,
};

/** Ends of calls. */
export const remoteOutcomes = {
  unknown: { kind: 'unknown', cause: 'Http503' },
  succeeded: { kind: 'succeeded', reference: 'charge-1' },
  refused: { kind: 'refused', code: 'Declined', message: 'declined' },
  failed: { kind: 'failed', code: 'Closed', message: 'closed' },
} as const satisfies Record<string, RemoteOutcome>;

/** What the tests see of their agent. */
export interface AgentBench {
  readonly clock: ManualClock;
  readonly telemetry: RecordingTelemetry;
  /** Calls that the remote service has seen. */
  readonly calls: readonly RemoteCall[];
  /** Waits between calls, in milliseconds. */
  readonly waits: readonly number[];
  /** What an agent needs, with a remote service that answers one after the other; the last answer stays. */
  depsWith(outcomes: readonly RemoteOutcome[], onCall?: () => void): AgentDeps;
  /** Serves {@link paymentRequest}, changed as the test says. */
  serve(deps: AgentDeps, changes?: Partial<AgentRequest>, isRepeat?: boolean): Promise<AgentReply | undefined>;
}

/** Creates an agent whose circuit opens only after very many failures. */
export function createAgentBench(): AgentBench {
  const clock = createManualClock();
  const telemetry = createRecordingTelemetry();
  const calls: RemoteCall[] = [];
  const waits: number[] = [];
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const policy = { failureThreshold: 100, openMs: 1_000, stepDeadlineMs: 4_000 };
  return {
    clock,
    telemetry,
    calls,
    waits,
    depsWith: (outcomes, onCall = () => undefined) => ({
      ...createRemoteGuards('queue', policy, { clock, wait }),
      clock,
      telemetry,
      retryDelayMs: 1,
      random: () => 0,
      wait,
      remote: {
        call: (call) => {
          calls.push(call);
          onCall();
          const index = Math.min(calls.length, outcomes.length) - 1;
          return Promise.resolve(outcomes[index] ?? remoteOutcomes.unknown);
        },
      },
    }),
    serve: (deps, changes = {}, isRepeat = false) =>
      serveRequest(paymentAgent, { request: { ...paymentRequest, ...changes }, isRepeat }, deps),
  };
}
