/** Writes lines in few system calls: a write to a pipe blocks, and a busy host prints some thirty lines an order. */
const warningOrError = /\] (warn|fail|error|critical):/;

/**
 * Creates the function that takes lines.
 *
 * @param onlyProblems leaves out what is neither a warning nor an error: nobody would see it
 */
export function createLineWriter(write: (text: string) => void, onlyProblems: boolean): (line: string) => void {
  let pending: string[] = [];
  const flush = (): void => {
    const text = `${pending.join('\n')}\n`;
    pending = [];
    write(text);
  };
  return (line) => {
    if (onlyProblems && !warningOrError.test(line)) return;
    pending.push(line);
    if (pending.length === 1) setImmediate(flush);
  };
}
