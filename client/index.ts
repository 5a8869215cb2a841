/** The door of the client: what an application imports. */
export { createOrderClient } from './order-client.js';
export type { OrderClient, OrderClientOptions } from './order-client.js';
export { ClientClosedError, InvalidOrderError, StatusTimeoutError, SubmitFailedError } from './errors.js';
export type { StatusHandler } from './status-feed.js';
export type { OrderDraft, SubmitOptions, SubmittedOrder } from './submit-order.js';
export { isFinal } from './wait-for-status.js';
export type { WaitOptions } from './wait-for-status.js';
export type { Order } from '../functions/contracts/order.js';
export type { StatusKind, StatusMessage } from '../functions/contracts/status-message.js';
