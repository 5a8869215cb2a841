/** What a command ends with when it fails: a message that says what to do next, and no stack trace. */

/** The command could not be carried out. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The command line is wrong; the usage follows the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
