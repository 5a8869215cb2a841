/** Route templates of HTTP triggers, such as `orders/{orderId}/steps/{step:int?}` or `files/{*path}`. Pure. */

/** A parsed template. */
export interface Route {
  readonly template: string;
  readonly segments: readonly Segment[];
}

interface Segment {
  readonly kind: 'literal' | 'parameter' | 'rest';
  /** The literal text, or the parameter's name. */
  readonly name: string;
  readonly isOptional: boolean;
  readonly pattern: RegExp;
}

const parameter = /^\{(\*?)(\w+)((?::\w+)?)(\?)?\}$/;
const constraints: Readonly<Record<string, RegExp>> = {
  int: /^[+-]?\d+$/,
  long: /^[+-]?\d+$/,
  bool: /^(true|false)$/i,
  alpha: /^[a-z]*$/i,
  guid: /^\{?[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?$/i,
};
const anything = /^/;

/** Parses a template; throws when it uses what is not supported. */
export function parseRoute(template: string): Route {
  const parts = template.split('/').filter((part) => part !== '');
  return { template, segments: parts.map((part) => parseSegment(part, template)) };
}

/** The parameters of a path that fits the route; undefined when it does not fit. */
export function matchRoute({ segments }: Route, path: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'rest') {
      parameters[segment.name] = path.slice(index).join('/');
      return parameters;
    }
    const value = path[index];
    if (value === undefined) {
      if (!segment.isOptional) return undefined;
    } else if (!fits(segment, value)) return undefined;
    else if (segment.kind === 'parameter') parameters[segment.name] = value;
  }
  return path.length > segments.length ? undefined : parameters;
}

/** Orders routes so that the more specific one is asked first: literals before parameters before the rest. */
export function compareRoutes(one: Route, other: Route): number {
  const length = Math.max(one.segments.length, other.segments.length);
  for (let index = 0; index < length; index += 1) {
    const difference = rank(one.segments[index]) - rank(other.segments[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function fits(segment: Segment, value: string): boolean {
  if (segment.kind === 'literal') return segment.name.toLowerCase() === value.toLowerCase();
  return segment.pattern.test(value);
}

function rank(segment: Segment | undefined): number {
  if (segment === undefined) return 3;
  if (segment.kind === 'literal') return 0;
  if (segment.kind === 'rest') return 4;
  return segment.pattern === anything ? 2 : 1;
}

function parseSegment(part: string, template: string): Segment {
  if (!part.includes('{')) return { kind: 'literal', name: part, isOptional: false, pattern: anything };
  const [, star, name, constraint = '', optional] = parameter.exec(part) ?? [];
  const pattern = constraint === '' ? anything : constraints[constraint.slice(1)];
  if (name === undefined || pattern === undefined) {
    throw new Error(
      `Route "${template}": "${part}" is not supported. Use {name}, {name?}, {*name}, or one of the constraints ` +
        `${Object.keys(constraints).join(', ')}.`,
    );
  }
  return { kind: star === '*' ? 'rest' : 'parameter', name, isOptional: optional === '?', pattern };
}
