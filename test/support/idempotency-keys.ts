/** The key without the generation that an operator's further try has. */
export function firstKey(key: string): string {
  return key.replace(/\.r\d+$/, '');
}
