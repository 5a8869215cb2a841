/** Verifies SharedAccessSignature tokens. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { queueOf } from '../queue/entity-path.js';
import { findRule, type AuthorizationRule, type Right } from './rules.js';

/** What a valid token grants. */
export interface Grant {
  readonly rights: readonly Right[];
  readonly expiresAt: number;
}

/** A grant, or why there is none. */
export type Verification =
  { readonly kind: 'granted'; readonly grant: Grant } | { readonly kind: 'refused'; readonly reason: string };

/** What a token is asked for. */
export interface TokenRequest {
  readonly token: string;
  /** For example `sb://127.0.0.1:5672/orders`. */
  readonly audience: string;
  readonly now: number;
}

const prefix = 'SharedAccessSignature ';

/** Checks signature, resource and expiry. */
export function verifyToken(rules: readonly AuthorizationRule[], request: TokenRequest): Verification {
  const fields = parseToken(request.token);
  if (fields === undefined) return refuse('The token is not a SharedAccessSignature with sr, sig, se and skn.');
  const rule = findRule(rules, queueOf(pathOf(request.audience)), fields.keyName);
  const isSigned = rule !== undefined && hasSignature(fields, rule.key);
  if (!isSigned) return refuse('The token has an invalid signature.');
  if (fields.expiresAt <= request.now) return refuse(expired(fields.expiresAt, request.now));
  if (!covers(fields.resource, request.audience)) return refuse('The token was issued for another resource.');
  return { kind: 'granted', grant: { rights: rule.rights, expiresAt: fields.expiresAt } };
}

/** The path of a resource address, without scheme and host. */
export function pathOf(address: string): string {
  return address.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/^\/+|\/+$/g, '');
}

function refuse(reason: string): Verification {
  return { kind: 'refused', reason };
}

/** Names both clocks: on a virtual machine the client's may be the one that is wrong. */
function expired(expiresAt: number, now: number): string {
  const [end, clock] = [expiresAt, now].map((time) => new Date(time).toUTCString());
  return `The token has expired: it ends at ${end}, the broker's clock says ${clock}.`;
}

interface TokenFields {
  readonly encodedResource: string;
  readonly resource: string;
  readonly signature: string;
  readonly expirySeconds: string;
  readonly expiresAt: number;
  readonly keyName: string;
}

function parseToken(token: string): TokenFields | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const parts = splitFields(token.slice(prefix.length));
  const fields = {
    encodedResource: parts.get('sr') ?? '',
    resource: decode(parts.get('sr')),
    signature: decode(parts.get('sig')),
    expirySeconds: parts.get('se') ?? '',
    expiresAt: Number(parts.get('se')) * 1000,
    keyName: decode(parts.get('skn')),
  };
  const isWhole = fields.resource !== '' && fields.keyName !== '' && /^\d+$/.test(fields.expirySeconds);
  return isWhole ? fields : undefined;
}

function splitFields(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of text.split('&')) {
    const split = part.indexOf('=');
    if (split > 0) parts.set(part.slice(0, split), part.slice(split + 1));
  }
  return parts;
}

function decode(text = ''): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return ''; // Counts as missing.
  }
}

/** The signature covers the resource as it was sent, and the key is text: it is not decoded from base64. */
function hasSignature({ encodedResource, expirySeconds, signature }: TokenFields, key: string): boolean {
  const expected = createHmac('sha256', key).update(`${encodedResource}\n${expirySeconds}`).digest('base64');
  const [one, other] = [Buffer.from(expected), Buffer.from(signature)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function covers(resource: string, audience: string): boolean {
  const [wide, narrow] = [normalise(resource), normalise(audience)];
  return narrow === wide || narrow.startsWith(`${wide}/`);
}

/** Host and path: clients differ in the scheme (`sb`, `amqp`, `amqps`), and some leave the port out. */
function normalise(address: string): string {
  return address
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^([^/:]*):\d+/, '$1')
    .replace(/\/+$/, '');
}
