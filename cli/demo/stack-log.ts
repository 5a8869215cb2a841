/** What the parts of the stack said: kept, and shown only when the demo fails. */

/** The newest lines. */
export interface StackLog {
  readonly add: (line: string) => void;
  lastLines(): readonly string[];
}

const capacity = 40;
/** Two lines for each invocation that went well tell nothing about a failure. */
const routine = /\bExecut(ing '|ed '[^']*' \(Succeeded)/;

/** Creates an empty log. */
export function createStackLog(): StackLog {
  const lines: string[] = [];
  return {
    add(line) {
      if (routine.test(line)) return;
      lines.push(line);
      if (lines.length > capacity) lines.shift();
    },
    lastLines: () => lines,
  };
}
