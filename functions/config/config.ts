/**
 * All settings of the app in one schema. Read once at start; every problem is reported together, naming the setting and
 * what it must look like. Nothing else reads `process.env`.
 */
import { z } from 'zod';
import { applicationSchema } from '../contracts/identifiers.js';
import { workflows } from '../state/order-workflow.js';
import { contradictions } from './contradictions.js';
import type { SetSettings } from './contradictions.js';
import { isSchedule } from './schedule.js';

const flag = z.enum(['true', 'false'], 'expected true or false').transform((text) => text === 'true');

const wholeNumber = (min: number, max: number): z.ZodType<number> =>
  z
    .string()
    .regex(/^\d{1,12}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`);

const milliseconds = (min: number, max: number): z.ZodType<number> => wholeNumber(min, max);

const url = z.url({ protocol: /^https?$/, error: 'expected an http(s) address' });

const schedule = z
  .string()
  .refine(isSchedule, 'expected an NCRONTAB schedule of six fields, for example "*/10 * * * * *"');

const connectionString = z
  .string()
  .regex(
    /^(?=.*Endpoint=sb:\/\/[^;/\s]+)(?=.*SharedAccess(Key|Signature)=)/i,
    'expected a connection string like Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…',
  );

const hostName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$/i,
    'expected a host name like my-namespace.servicebus.windows.net',
  );

const applicationList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(applicationSchema))
  .refine((names) => new Set(names).size === names.length, 'expected each application once');

const hour = 3_600_000;

/** One setting each, in the order of docs/configuration.md. Times are in milliseconds. */
export const settingsSchema = z.object({
  APPLICATIONS: applicationList.describe('Registered applications; each has its own queue status-<name>.'),
  ServiceBusConnection: connectionString.optional().describe('Connection string of the namespace; only on a laptop.'),
  ServiceBusConnection__fullyQualifiedNamespace: hostName
    .optional()
    .describe('Host name of the namespace; in Azure, with managed identity.'),
  COSMOS_ENDPOINT: url.describe('Address of the Cosmos DB account.'),
  COSMOS_KEY: z
    .base64('expected a key in Base64')
    .optional()
    .describe('Account key; only on a laptop. Absent: managed identity.'),
  COSMOS_DATABASE: z.string().min(1).describe('Database that holds the containers orders and order-state.'),
  AZURE_CLIENT_ID: z.guid('expected a GUID').optional().describe('Client id of the user-assigned identity; in Azure.'),
  STARTER_SCHEDULE: schedule.describe('When the starter looks for waiting orders.'),
  STARTER_PAGE_SIZE: wholeNumber(1, 1000).describe('Orders read in one page.'),
  STARTER_MAX_PER_RUN: wholeNumber(1, 100_000).describe('Orders started in one run at most.'),
  STARTER_CONCURRENCY: wholeNumber(1, 256).describe('Orders claimed and started at the same time.'),
  STARTER_NORMAL_SHARE_PERCENT: wholeNumber(1, 100).describe(
    'Share of a run that high priority leaves to normal orders.',
  ),
  MAX_IN_FLIGHT: wholeNumber(1, 1_000_000).describe('Orders in progress at most; the others wait.'),
  INTAKE_HIGH_WATER: wholeNumber(1, 100_000_000).describe('Waiting orders at which intake closes.'),
  INTAKE_LOW_WATER: wholeNumber(0, 100_000_000).describe('Waiting orders at which intake opens again.'),
  INTAKE_REFRESH_MS: milliseconds(100, hour).describe('How long submit believes the control document.'),
  BUSY_RETRY_AFTER_MS: milliseconds(1_000, 24 * hour).describe('What a turned-away application is told to wait.'),
  CLAIM_LEASE_MS: milliseconds(1_000, hour).describe(
    'How long a claimed attempt may take to begin; renewed up to five times while the runtime still has it.',
  ),
  RELEASE_BACKOFF_MS: milliseconds(100, hour).describe('Wait after the runtime has refused a start.'),
  STEP_DEADLINE_MS: milliseconds(500, 24 * hour).describe('How long a step may take.'),
  MAX_FAILURES: wholeNumber(1, 100).describe('Failures of one step, or of one undo, after which an order is given up.'),
  EXTENDED_RETRIES: wholeNumber(0, 100).describe('Further attempts, each after an extended wait.'),
  EXTENDED_WAIT_MS: milliseconds(1_000, 168 * hour).describe('The extended wait.'),
  WORKFLOW_VERSION: wholeNumber(1, workflows.length).describe(
    'Workflow version of new orders; running orders keep theirs.',
  ),
  MAX_CALLS_PER_STEP: wholeNumber(1, 10_000).describe(
    'Calls to a remote service that one step may cause, all layers multiplied.',
  ),
  ORDER_LIFETIME_MS: milliseconds(1_000, 720 * hour).describe('Task-level deadline of an order.'),
  SUPERVISOR_SCHEDULE: schedule.describe('When the supervisor looks for expired attempts.'),
  SUPERVISOR_GRACE_MS: milliseconds(0, hour).describe('How long past its deadline an attempt is left alone.'),
  SUPERVISOR_WINDOW_MS: milliseconds(1_000, 720 * hour).describe('How far back the first pages look.'),
  SUPERVISOR_PAGE_SIZE: wholeNumber(1, 1000).describe('Records read in one page.'),
  SUPERVISOR_MAX_PER_RUN: wholeNumber(1, 100_000).describe('Attempts recovered in one run at most.'),
  SUPERVISOR_CONCURRENCY: wholeNumber(1, 256).describe('Attempts recovered at the same time.'),
  SUPERVISOR_MAX_RU_PER_RUN: wholeNumber(10, 1_000_000).describe('Request units after which a run stops.'),
  RECOVERY_INDEX_ENABLED: flag.describe('Deadlines are also noted in a time-bucketed container; for very many orders.'),
  RECOVERY_SCAN_EVERY_MINUTES: wholeNumber(1, 60).describe(
    'With the recovery index: how often all records are scanned.',
  ),
  SUPERVISOR_AUDIT_SCHEDULE: schedule.describe(
    'When the audit reads the records that have changed, at most SUPERVISOR_MAX_RU_PER_RUN in a run.',
  ),
  RETRY_BACKOFF_MS: milliseconds(100, 24 * hour).describe(
    'Wait before the second attempt; doubles with each failure, or with each deferral of a step.',
  ),
  RETRY_MAX_BACKOFF_MS: milliseconds(100, 24 * hour).describe('Longest wait between attempts.'),
  START_BY_MS: milliseconds(1_000, 24 * hour).describe('How long a waiting order may wait before that is noticed.'),
  RECORD_RETENTION_DAYS: wholeNumber(120, 3650).describe(
    'How long a record is kept after its order has ended well or been undone; longer than any dead letter lives.',
  ),
  UNRESOLVED_RETENTION_DAYS: wholeNumber(120, 3650).describe(
    'How long a record in Error or CompensationFailed is kept; orders are kept a little longer, then deleted with all they hold.',
  ),
  HISTORY_RETENTION_DAYS: wholeNumber(1, 3650).describe('How long the runtime keeps finished attempts.'),
  HISTORY_PURGE_SCHEDULE: schedule.describe(
    'When finished attempts are purged: an hour of them in each call, so at least once an hour.',
  ),
  PAYMENT_URL: url.describe('Remote service of the payment agent.'),
  INVENTORY_URL: url.describe('Remote service of the inventory agent.'),
  SHIPPING_URL: url.describe('Remote service of the shipping agent.'),
  INVOICE_URL: url.describe('Remote service of the invoice agent (workflow version 2).'),
  BREAKER_FAILURES: wholeNumber(1, 1000).describe('Calls without a definite answer, in a row, that open a circuit.'),
  BREAKER_OPEN_MS: milliseconds(100, hour).describe('How long a circuit stays open.'),
  AGENT_RETRY_DELAY_MS: milliseconds(10, hour).describe(
    'Wait of an agent before it calls again, within its allowance.',
  ),
  DEMO_REMOTES_ENABLED: flag.describe('Simulated remote services in this app; true only for demonstrations.'),
});

/** The parsed settings under their names. */
export type Config = Readonly<z.infer<typeof settingsSchema>>;

/** Settings that cannot work: each problem is one line that begins with the name of the setting and quotes no value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly problems: readonly string[]) {
    super(`${problems.length} setting(s) need attention:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/**
 * Parses the settings.
 *
 * @throws SettingsError that lists every wrong or missing setting with its expected form
 */
export function parseConfig(environment: SetSettings): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = settingsSchema.safeParse(set);
  const fieldProblems = parsed.success ? [] : parsed.error.issues.map((issue) => describeIssue(issue, set));
  const problems = [...fieldProblems, ...contradictions(set)];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new SettingsError(problems);
}

function describeIssue(issue: z.core.$ZodIssue, set: SetSettings): string {
  const name = String(issue.path[0]);
  return `${name}: ${set[name] === undefined ? 'is not set' : issue.message}`;
}

/** The settings of this process. */
export function loadConfig(): Config {
  return parseConfig(process.env);
}
