/**
 * Faults by rule, the same shape for the embedded broker, Cosmos DB and Functions host.
 * Faults come from outside: the app's code never knows of them. Rules are seeded, so a run can be repeated.
 */

export { faultActions } from './fault-plan.js';
export type { FaultAction, FaultPlan, FaultRule } from './fault-plan.js';
export type { Faults } from './faults.js';
export { createFaults } from './faults.js';
export { parseFaultPlan } from './parse-fault-plan.js';
