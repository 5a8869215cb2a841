/**
 * `dead-letters`: looks into the dead-letter queue of a queue, and on request sends its messages back.
 *
 * Invariants
 * D1 A replayed message is first sent, then completed: a crash in between repeats it, but loses nothing.
 * D2 Its MessageId is derived from where it lay, so that the repeat is dropped, while the queue's memory of the original
 *    message does not swallow the replay.
 * D3 Only what lay there when the replay began is replayed: what is refused again stays for the operator.
 */
import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { statusQueueName } from '../../functions/contracts/identifiers.js';
import type { Command, CommandContext } from '../command.js';
import { CommandError } from '../errors.js';
import { drawTable } from '../terminal/table.js';
import type { Column } from '../terminal/table.js';
import type { Screen } from '../terminal/screen.js';

const suffix = '-dead-letter';
const peekedAtOnce = 100;
const maxShown = 1_000;
const firstMessageLimitMs = 2_000;
const longestMessageId = 128;

export const deadLetters: Command = {
  summary: 'look at the dead letters of a queue, or send them back to it',
  usage: `dead-letters <queue> [--json] [--replay]

  <queue>    for example orders, payment-replies or status-web-shop
  --json     one JSON object a line
  --replay   send all of them back to the queue; correct the cause first, or they come again`,
  options: { json: { type: 'boolean' }, replay: { type: 'boolean' } },
  positionals: { min: 1, max: 1 },
  async run({ positionals: [name = ''], options }, context) {
    const queue = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
    const client = context.endpoints.serviceBus();
    try {
      const letters = await peekAll(client, queue);
      if (options.flag('replay')) await replay(client, { queue, count: letters.length }, context);
      else if (options.flag('json')) printJson(letters, context.screen);
      else printTable(queue, letters, context.screen);
      return 0;
    } finally {
      await client.close();
    }
  },
};

async function peekAll(client: ServiceBusClient, queue: string): Promise<readonly ServiceBusReceivedMessage[]> {
  const receiver = receiverOf(client, queue);
  const found: ServiceBusReceivedMessage[] = [];
  for (;;) {
    const page = await receiver.peekMessages(peekedAtOnce);
    if (page.length === 0) break;
    found.push(...page);
  }
  await receiver.close();
  return found;
}

/** The dead letters of most queues are forwarded to one of their own; those of a status queue stay in its sub-queue. */
function receiverOf(client: ServiceBusClient, queue: string): ServiceBusReceiver {
  const options = { skipParsingBodyAsJson: true };
  return queue.startsWith(statusQueueName(''))
    ? client.createReceiver(queue, { ...options, subQueueType: 'deadLetter' })
    : client.createReceiver(`${queue}${suffix}`, options);
}

const columns: readonly Column[] = [
  { title: 'since' },
  { title: 'MessageId' },
  { title: 'reason' },
  { title: 'description', isFlexible: true },
];

function printTable(queue: string, letters: readonly ServiceBusReceivedMessage[], screen: Screen): void {
  if (letters.length === 0) {
    screen.print(`No dead letters of ${queue}.`);
    return;
  }
  const rows = letters
    .slice(0, maxShown)
    .map((letter) => [
      letter.enqueuedTimeUtc?.toISOString().slice(0, 19).replace('T', ' ') ?? '',
      String(letter.messageId),
      letter.deadLetterReason ?? '',
      letter.deadLetterErrorDescription ?? '',
    ]);
  for (const line of drawTable(columns, rows, screen)) screen.print(line);
  if (letters.length > maxShown) screen.print(`… ${maxShown} of ${letters.length} are shown; --json shows all`);
}

/** Bodies are left out: they may hold personal data. */
function printJson(letters: readonly ServiceBusReceivedMessage[], screen: Screen): void {
  for (const letter of letters) {
    const { enqueuedTimeUtc, messageId, correlationId, deadLetterReason, deadLetterErrorDescription } = letter;
    const sequenceNumber = letter.sequenceNumber?.toString();
    const reason = { deadLetterReason, deadLetterErrorDescription };
    screen.print(JSON.stringify({ sequenceNumber, enqueuedTimeUtc, messageId, correlationId, ...reason }));
  }
}

interface Replay {
  readonly queue: string;
  /** How many lay there at the beginning. */
  readonly count: number;
}

async function replay(
  client: ServiceBusClient,
  { queue, count }: Replay,
  { screen, signal }: CommandContext,
): Promise<void> {
  const receiver = receiverOf(client, queue);
  const sender = client.createSender(queue);
  let replayed = 0;
  while (replayed < count && !signal.aborted) {
    const [letter] = await receiver.receiveMessages(1, { maxWaitTimeInMs: firstMessageLimitMs });
    if (letter === undefined) break;
    await sender.sendMessages(replayOf(letter));
    await receiver.completeMessage(letter); // D1
    replayed += 1;
    screen.print(`${String(letter.messageId)} sent back to ${queue}`);
  }
  await receiver.close();
  await sender.close();
  if (replayed < count && !signal.aborted) {
    throw new CommandError(
      `${replayed} of ${count} sent back; the others are being handled by somebody else. Try again.`,
    );
  }
  screen.print(`${replayed} of ${count} dead letters sent back to ${queue}`);
}

type AmqpMessage = ServiceBusReceivedMessage['_rawAmqpMessage'];

const addedByDeath: readonly string[] = ['DeadLetterReason', 'DeadLetterErrorDescription'];

/** The message as it was, with an id of its own and without what its death added. */
export function replayOf(letter: ServiceBusReceivedMessage): AmqpMessage {
  const { bodyType, properties, applicationProperties = {} } = letter._rawAmqpMessage;
  const own = Object.entries(applicationProperties).filter(([name]) => !addedByDeath.includes(name));
  return {
    body: letter.body as unknown,
    ...(bodyType === undefined ? {} : { bodyType }),
    properties: { ...properties, messageId: replayId(letter) },
    applicationProperties: Object.fromEntries(own),
  };
}

function replayId({ messageId, sequenceNumber }: ServiceBusReceivedMessage): string {
  const mark = `.replay-${sequenceNumber?.toString() ?? ''}`;
  return `${String(messageId).slice(0, longestMessageId - mark.length)}${mark}`;
}
