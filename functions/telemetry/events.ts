/**
 * Every event the system emits: the contract for dashboards and alerts (R58, R59). Fields carry ids, states and counts,
 * never an order's contents.
 */

/** Events in the ordinary course of work. */
export const eventNames = [
  'order-accepted', // submit: order and record are stored
  'order-duplicate', // submit: the same order again
  'order-turned-away', // submit: intake is closed
  'intake-changed', // starter: intake opens, throttles or closes
  'message-rejected', // a message was refused and kept in the dead-letter queue
  'message-redelivered', // a transient fault: the message comes back later
  'eager-start-failed', // the starter's next run will do it
  'attempt-claimed', // starter: one more attempt
  'attempt-released', // starter: the runtime refused the start
  'start-failed', // starter: this order could not be claimed now
  'start-unknown', // starter: the claim lease decides
  'step-dispatched', // scheduler: a request is on its way
  'step-not-dispatched', // scheduler: the store or the broker was away until its deadline had passed
  'attempt-superseded', // an old attempt was stopped by the fence
  'attempt-ended', // processed, refused or given up
  'attempt-expired', // supervisor: a failure is counted
  'attempt-late', // supervisor: the runtime is slow or broken, so no failure is counted
  'reply-late', // a reply nobody waits for
  'agent-replied', // agent: a definite answer
  'agent-silent', // agent: outcome unknown or deadline passed
  'status-undeliverable', // once per order: the application's queue did not take a status
  'starter-run', // one run of the starter
  'supervisor-run', // one run of the supervisor: its absence is an alert
  'start-overdue', // supervisor: an order has waited for the starter longer than START_BY_MS
  'history-purged', // scheduler: finished attempts were forgotten
  'audit-run', // supervisor: the slow look for unreadable documents
  'recovery-failed', // supervisor: this record could not be recovered now
  'sweep-failed', // supervisor: a part of a run ended early; the other parts went on
] as const;

/** Events an operator must see; an alert rule matches their prefix. */
export const alertNames = [
  'settings-wrong', // a setting cannot work: no function but `health` is registered
  'order-conflict', // another order with the same id
  'order-needs-operator', // Error or CompensationFailed
  'record-newer', // a record of a newer build: left alone
  'message-newer', // a message of a newer build: kept in the dead-letter queue
  'record-malformed', // a document in the state store that is no record
  'start-impossible', // starter: an order fails for good
  'recovery-impossible', // supervisor: a record fails for good
] as const;
