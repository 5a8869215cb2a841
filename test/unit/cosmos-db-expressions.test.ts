import { describe, expect, it } from 'vitest';
import { WireError } from '../../local/cosmos-db/wire-errors.js';
import { everythingIndexed, memoryContainer, runQuery, store } from '../support/cosmos-db-query.js';

const document = {
  id: 'a',
  n: 3,
  text: 'Hello',
  yes: true,
  nothing: null,
  list: [1, 'two', { k: 1, m: 2 }],
  inner: { deep: { value: 7 }, 'odd name': 1 },
};

/** The value of an expression for the document; the string 'undefined' when it has none. */
function evaluate(expression: string, parameters: { name: string; value: never }[] = []): unknown {
  const container = memoryContainer(everythingIndexed);
  store(container, [document]);
  const { results } = runQuery(container, `SELECT VALUE ${expression} FROM c`, { parameters });
  return results.length === 0 ? 'undefined' : results[0];
}

describe('an expression', () => {
  it.each([
    ['c.n + 2 * 3 - 1', 8],
    ['(c.n + 2) * 3', 15],
    ['7 % 4', 3],
    ['-c.n', -3],
    ['1 / 0', 'undefined'],
    ["c.text || '!'", 'Hello!'],
    ['5 & 3', 1],
    ['5 | 3', 7],
    ['5 ^ 3', 6],
    ['1 << 3', 8],
    ['~0', -1],
    ['c.n > 2 ? 1 : 2', 1],
    ['c.missing ?? 9', 9],
    ['c.nothing ?? 9', null],
    ['c.inner.deep.value', 7],
    ["c.inner['odd name']", 1],
    ['c.list[1]', 'two'],
    ['c.list[9]', 'undefined'],
    ["c['list'][2].k", 1],
    ['[1, c.n, c.missing]', [1, 3]],
    ["{'a': c.n, b: c.missing}", { a: 3 }],
    ["'it\\'s \\u0041'", "it's A"],
    ['0x10', 16],
    ['1e3', 1000],
  ])('%s yields %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ['c.n = 3', true],
    ["c.n = '3'", false],
    ["c.n != '3'", true],
    ['c.nothing = null', true],
    ['c.missing = null', 'undefined'],
    ['c.missing != 1', 'undefined'],
    ['c.n < 4', true],
    ["c.n < 'a'", 'undefined'],
    ["c.nothing < 'a'", 'undefined'],
    ['c.list < c.list', 'undefined'],
    ["c.list = [1, 'two', {m: 2, k: 1}]", true],
    ['c.n IN (1, 2, 3)', true],
    ['c.n NOT IN (1, 2, 3)', false],
    ['c.missing IN (1, 2)', 'undefined'],
    ['c.n BETWEEN 1 AND 3', true],
    ['c.n NOT BETWEEN 1 AND 3', false],
    ["c.text LIKE 'H%o'", true],
    ["c.text LIKE 'h%'", false],
    ["c.text LIKE '_ell_'", true],
    ["'50%' LIKE '50!%' ESCAPE '!'", true],
    ["c.text LIKE '[A-J]ello'", true],
    ["c.text NOT LIKE 'x%'", true],
  ])('%s compares to %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ['true AND c.missing', 'undefined'],
    ['false AND c.missing', false],
    ['c.missing AND false', false],
    ['true OR c.missing', true],
    ['c.missing OR true', true],
    ['false OR c.missing', 'undefined'],
    ['NOT c.missing', 'undefined'],
    ['NOT c.yes', false],
    ['NOT c.n = 4', true],
    ['c.n AND true', 'undefined'],
    ['true OR false AND false', true],
  ])('%s follows three-valued logic: %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });
});

describe('a function', () => {
  it.each([
    ['IS_DEFINED(c.nothing)', true],
    ['IS_DEFINED(c.missing)', false],
    ['IS_NULL(c.nothing)', true],
    ['is_null(c.missing)', false],
    ['IS_BOOL(c.yes)', true],
    ['IS_NUMBER(c.n)', true],
    ['IS_INTEGER(1.5)', false],
    ['IS_STRING(c.text)', true],
    ['IS_ARRAY(c.list)', true],
    ['IS_OBJECT(c.inner)', true],
    ['IS_OBJECT(c.list)', false],
    ['IS_PRIMITIVE(c.nothing)', true],
  ])('%s checks types: %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ["CONCAT(c.text, ' ', 'you')", 'Hello you'],
    ["CONTAINS(c.text, 'ELL', true)", true],
    ["CONTAINS(c.text, 'ELL')", false],
    ["STARTSWITH(c.text, 'He')", true],
    ["ENDSWITH(c.text, 'lo')", true],
    ["INDEX_OF(c.text, 'l')", 2],
    ['LEFT(c.text, 2)', 'He'],
    ['RIGHT(c.text, 2)', 'lo'],
    ['LENGTH(c.text)', 5],
    ['LOWER(c.text)', 'hello'],
    ["REPLACE(c.text, 'l', 'L')", 'HeLLo'],
    ["REPLICATE('ab', 3)", 'ababab'],
    ['REVERSE(c.text)', 'olleH'],
    ['SUBSTRING(c.text, 1, 3)', 'ell'],
    ["TRIM('  x ')", 'x'],
    ['ToString(c.n)', '3'],
    ["StringToNumber('4.5')", 4.5],
    ["StringToNumber('x')", 'undefined'],
    ["RegexMatch(c.text, '^h', 'i')", true],
    ["StringSplit('a,b', ',')", ['a', 'b']],
    ['LENGTH(c.n)', 'undefined'],
  ])('%s works on text: %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ['ABS(-2)', 2],
    ['CEILING(1.2)', 2],
    ['FLOOR(1.8)', 1],
    ['ROUND(-2.5)', -3],
    ['POWER(2, 10)', 1024],
    ['SQRT(16)', 4],
    ['SQRT(-1)', 'undefined'],
    ['LOG(8, 2)', 3],
    ['SIGN(-4)', -1],
    ['TRUNC(-1.7)', -1],
    ['NumberBin(37, 10)', 30],
  ])('%s calculates %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ['ARRAY_LENGTH(c.list)', 3],
    ["ARRAY_CONTAINS(c.list, 'two')", true],
    ['ARRAY_CONTAINS(c.list, {k: 1})', false],
    ['ARRAY_CONTAINS(c.list, {k: 1}, true)', true],
    ['ARRAY_CONCAT(c.list, [4])', [1, 'two', { k: 1, m: 2 }, 4]],
    ['ARRAY_SLICE(c.list, 1, 1)', ['two']],
    ['ARRAY_SLICE(c.list, -1)', [{ k: 1, m: 2 }]],
    ['SetIntersect([1, 2, 2], [2, 3])', [2]],
    ['SetUnion([1, 2], [2, 3])', [1, 2, 3]],
    ['IIF(c.yes, 1, 2)', 1],
  ])('%s works on lists: %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each([
    ['GetCurrentDateTime()', '2026-01-01T00:00:00.0000000Z'],
    ['GetCurrentTimestamp()', Date.UTC(2026, 0, 1)],
    ["DateTimeAdd('mm', 1, '2026-01-31T00:00:00.0000000Z')", '2026-02-28T00:00:00.0000000Z'],
    ["DateTimeAdd('second', -5, '2026-01-01T00:00:00Z')", '2025-12-31T23:59:55.0000000Z'],
    ["DateTimeDiff('day', '2026-01-01T23:00:00Z', '2026-01-02T01:00:00Z')", 1],
    ["DateTimeToTimestamp('2026-01-01T00:00:00.0000000Z')", Date.UTC(2026, 0, 1)],
    ["DateTimePart('yyyy', '2026-01-31T12:34:56.6789123Z')", 2026],
    ["DateTimePart('mm', '2026-01-31T12:34:56.6789123Z')", 1],
    ["DateTimePart('hh', '2026-01-31T12:34:56.6789123Z')", 12],
    ["DateTimePart('ms', '2026-01-31T12:34:56.6789123Z')", 678],
    ["DateTimePart('mcs', '2026-01-31T12:34:56.6789123Z')", 678_912],
    ["DateTimePart('ns', '2026-01-31T12:34:56.6789123Z')", 678_912_300],
    ["DateTimePart('week', '2026-01-31T12:34:56Z')", 'undefined'],
    ["DateTimeToTicks('1970-01-01T00:00:01.0000002Z')", 10_000_002],
    ['TicksToDateTime(10000002)', '1970-01-01T00:00:01.0000002Z'],
    ['GetCurrentTicks()', Date.UTC(2026, 0, 1) * 10_000],
    ['TimestampToDateTime(0)', '1970-01-01T00:00:00.0000000Z'],
  ])('%s tells the time: %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });
});

describe('a query that is wrong', () => {
  it.each([
    ['SELECT *', /'SELECT \*' is not valid if FROM clause is omitted/],
    ['SELECT VALUE c.n', /'c' could not be resolved/],
    ['SELECT * FROM', /incorrect syntax near the end/],
    ['SELECT * FROM c WHERE', /incorrect syntax/],
    ['SELECT * FROM c WHERE x.a = 1', /'x' could not be resolved/],
    ['SELECT * FROM c WHERE NO_SUCH(c.a)', /'NO_SUCH' is not a recognized built-in function name/],
    ['SELECT * FROM c WHERE LOWER(c.a, 1)', /LOWER function requires 1/],
    ['SELECT * FROM c WHERE c.a = @p', /parameter @p/],
    ['SELECT * FROM c WHERE c.a = #', /invalid character/],
    ['SELECT * FROM c ORDER BY c.a + 1', /could not be mapped to a document path/],
    ['SELECT TOP -1 * FROM c', /whole number/],
    ['SELECT TOP 2147483648 * FROM c', /whole number from 0 to 2147483647/],
    ['SELECT * FROM c OFFSET 2147483648 LIMIT 1', /whole number from 0 to 2147483647/],
    ['SELECT * FROM c OFFSET 0 LIMIT 99999999999', /whole number from 0 to 2147483647/],
    ['SELECT TOP @n * FROM c', /whole number from 0 to 2147483647/],
    [`SELECT * FROM c WHERE ${'('.repeat(500)}1${')'.repeat(500)}`, /nested more than/],
    [`SELECT * FROM c WHERE 1${' + 1'.repeat(1001)}`, /more than 1000 operators/],
    [`SELECT * FROM c WHERE c.a IN (${'1,'.repeat(9000)}1)`, /more than 16384 tokens/],
    [`SELECT * FROM c WHERE ${'NOT '.repeat(500)} true`, /nested more than/],
    [`SELECT * FROM c WHERE '${'x'.repeat(300_000)}'`, /longer than/],
  ])('%.60s is refused', (text, message) => {
    const container = memoryContainer(everythingIndexed);
    store(container, [document]);
    const run = (): unknown => runQuery(container, text);
    expect(run).toThrow(message);
    expect(run).toThrow(WireError);
  });

  it('takes a query without FROM for one result', () => {
    const container = memoryContainer(everythingIndexed, 2);
    store(container, [document, { ...document, id: 'b' }]);
    expect(runQuery(container, 'SELECT VALUE ARRAY_LENGTH([1, 2])').results).toEqual([2]);
    expect(runQuery(container, "SELECT 1 AS one, 'x' AS text").results).toEqual([{ one: 1, text: 'x' }]);
    expect(runQuery(container, 'SELECT VALUE 1 WHERE false').results).toEqual([]);
  });

  it('rolls another random number for each document', () => {
    const container = memoryContainer(everythingIndexed);
    store(
      container,
      Array.from({ length: 50 }, (_, index) => ({ id: `d${index}` })),
    );
    const numbers = runQuery(container, 'SELECT VALUE RAND() FROM c').results;
    expect(new Set(numbers).size).toBe(50);
  });

  it('runs chains and lists as long as the limit allows', () => {
    const container = memoryContainer(everythingIndexed);
    store(container, [document]);
    const chain = `SELECT VALUE c.id FROM c WHERE ${'c.n = 1 OR '.repeat(498)} c.n = 3`;
    expect(runQuery(container, chain).results).toEqual(['a']);
    const list = `SELECT VALUE c.id FROM c WHERE c.n IN (${'1, '.repeat(7000)} 3)`;
    expect(runQuery(container, list).results).toEqual(['a']);
    const sum = `SELECT VALUE 0${' + 1'.repeat(999)} FROM c`;
    expect(runQuery(container, sum).results).toEqual([999]);
  });

  it.each([
    ['SELECT * FROM c JOIN x IN c.list', /JOIN is not supported/],
    ['SELECT VALUE x FROM c JOIN x IN c.list', /JOIN is not supported/],
    ['SELECT x.k FROM c AS d JOIN x IN d.list WHERE x.k = 1', /JOIN is not supported/],
    ['SELECT VALUE x.k FROM x IN c.list', /Iteration/],
    ['SELECT VALUE COUNT(1)', /in a query without FROM is not supported/],
    ['SELECT DISTINCT VALUE 1', /in a query without FROM is not supported/],
    ['SELECT VALUE x FROM x IN c.list', /Iteration/],
    ['SELECT * FROM (SELECT * FROM c) d', /subquery is not supported/],
    ['SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM c)', /subquery is not supported/],
    ['SELECT ARRAY(SELECT VALUE 1 FROM c) FROM c', /subquery is not supported/],
    ['SELECT * FROM c WHERE udf.x(c)', /user-defined function is not supported/],
    ['SELECT * FROM c.inner', /part of the document is not supported/],
  ])('%s is refused by name, with the way out', (text, message) => {
    const container = memoryContainer(everythingIndexed);
    expect(() => runQuery(container, text)).toThrow(message);
    expect(() => runQuery(container, text)).toThrow(/official emulator or an Azure account/);
  });
});
