/** An embedded Service Bus broker: queues over AMQP 1.0 for the unmodified clients of Azure Service Bus. */
export { startBroker } from './broker.js';
export type { Broker, BrokerOptions } from './broker.js';
export type { AuthorizationRule, Right } from './auth/rules.js';
export type { Clock } from './clock.js';
