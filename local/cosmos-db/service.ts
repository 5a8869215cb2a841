/**
 * Decides requests: signature, route, faults, throughput, effect, counters. Knows nothing of sockets.
 *
 * Invariants
 * H1 A route's decision and its effect happen in one turn, so that no other request comes between. Only routes without an
 *    effect may take several.
 * H2 What is answered is durable: the caller waits for `settled` before it answers (http-handler.ts).
 */
import type { FaultRule, Faults } from '../faults/index.js';
import type { Authenticate } from './auth.js';
import type { Counters } from './counters.js';
import { errorAnswer } from './error-answer.js';
import type { Answer, Request } from './exchange.js';
import { header } from './exchange.js';
import type { Verdict } from './fault-gate.js';
import { replicaLagMs, sitOut } from './fault-gate.js';
import type { Operation } from './operations.js';
import { ITEM_OPERATIONS } from './operations.js';
import type { Route } from './router.js';
import { withNames } from './resource-path.js';
import { routeOf } from './router.js';
import type { Throughput } from './throughput.js';
import { injectedFault, tooManyRequests } from './wire-errors.js';

export interface Service {
  /** The answer, or 'cut' when the connection is to be closed without one. */
  decide(request: Request): Reply | Promise<Reply>;
}

/** What goes back to the client. */
export type Reply = { readonly kind: 'answer'; readonly answer: Answer } | { readonly kind: 'cut' };

export interface ServiceParts {
  readonly authenticate: Authenticate;
  readonly faults: Faults;
  readonly throughput: Throughput;
  readonly counters: Counters;
  /** Told of errors that are the server's own. */
  readonly onInternalError: (error: unknown) => void;
}

const CUT: Reply = { kind: 'cut' };

const METERED: ReadonlySet<Operation> = new Set(ITEM_OPERATIONS);

/** Operations on items draw on a container's throughput; reading its description does not. */
function isMetered(route: Route): boolean {
  return METERED.has(route.operation);
}

/** Carries out routes, with their effect and their counts. */
function createPerformer(
  parts: ServiceParts,
): (route: Route, request: Request, hasEffect: boolean) => Answer | Promise<Answer> {
  const { throughput, counters, onInternalError } = parts;
  const answerOf = (route: Route, request: Request): Answer | Promise<Answer> => {
    const retryAfterMs = isMetered(route) ? throughput.retryAfterMs(request.path.container, request.now) : 0;
    if (retryAfterMs > 0) throw tooManyRequests(retryAfterMs);
    return route.answer(request);
  };
  const account = (route: Route, request: Request, answer: Answer): Answer => {
    const { container } = request.path;
    if (isMetered(route)) throughput.charge(container, answer.charge);
    counters.count(container, route.operation, answer);
    return answer;
  };
  const accountLater = async (route: Route, request: Request, answer: Promise<Answer>): Promise<Answer> =>
    account(route, request, await answer.catch((error: unknown) => errorAnswer(error, onInternalError)));
  return (route, request, hasEffect) => {
    try {
      const answer = answerOf(route, request);
      if (answer instanceof Promise) return accountLater(route, request, answer);
      if (hasEffect) answer.commit?.();
      return account(route, request, answer);
    } catch (error) {
      return account(route, request, errorAnswer(error, onInternalError));
    }
  };
}

/** Creates the service over its parts. */
export function createService(parts: ServiceParts): Service {
  const { authenticate, faults, counters, onInternalError } = parts;
  const perform = createPerformer(parts);

  const obey = (verdict: Verdict, route: Route, request: Request): Reply | Promise<Reply> => {
    if (verdict === 'cut') return CUT;
    if (verdict === 'answerTwice') void perform(route, request, true);
    const answer = perform(route, request, verdict !== 'answerWithoutEffect');
    const reply = (done: Answer): Reply => (verdict === 'cutAfterCommit' ? CUT : { kind: 'answer', answer: done });
    return answer instanceof Promise ? answer.then(reply) : reply(answer);
  };

  const hit = (rule: FaultRule, route: Route, request: Request): Reply | Promise<Reply> => {
    if (rule.action !== 'refuse') return sitOut(rule, faults).then((verdict) => obey(verdict, route, request));
    const answer = { ...errorAnswer(injectedFault(rule.error), onInternalError), charge: 0 };
    counters.count(request.path.container, route.operation, answer);
    return { kind: 'answer', answer };
  };

  const admit = (request: Request): Request => {
    const { method, path } = request;
    authenticate({ method, path, authorization: header(request, 'authorization'), date: header(request, 'x-ms-date') });
    return { ...request, path: withNames(path, request.store.databases) };
  };

  return {
    decide(incoming) {
      let request: Request;
      let route: Route;
      try {
        request = admit(incoming);
        route = routeOf(request);
      } catch (error) {
        return { kind: 'answer', answer: errorAnswer(error, onInternalError) };
      }
      const { container } = request.path;
      const rule = faults.decide(route.operation, container);
      if (rule !== undefined) return hit(rule, route, request);
      const behindMs = route.operation === 'read' ? replicaLagMs(faults, container) : 0;
      return obey('answer', route, { ...request, behindMs });
    },
  };
}
