/** Kinds of effects that none of the matrix's orders reaches, and where they are tested instead. */
const sameAsInventory = 'the activity runs the code of inventory, which the matrix covers; deployment.test.ts runs it';
const controlDocument = 'intake is not an effect of an order; detours.test.ts disturbs an operator’s decision on it';
const onlyReads = 'it reads the settings and writes nothing';
const optionalIndex = 'the recovery index is an option that is off; apart.test.ts disturbs it switched on';
const brokerForwards = 'only a message that breaks its contract is sent there; apart.test.ts does it for orders';

export const unreachedKinds: Readonly<Record<string, string>> = {
  'functions-host/invoke/health': onlyReads,
  'functions-host/activity/invoice': sameAsInventory,
  'functions-host/invoke/operator-intake-pause': controlDocument,
  'functions-host/invoke/operator-intake-resume': controlDocument,
  'cosmos-db/upsert/recovery-index': optionalIndex,
  'service-bus/send/orders-dead-letter': brokerForwards,
  'service-bus/send/payment-requests-dead-letter': brokerForwards,
  'service-bus/send/payment-replies-dead-letter': brokerForwards,
  'service-bus/send/shipping-requests-dead-letter': brokerForwards,
  'service-bus/send/shipping-replies-dead-letter': brokerForwards,
  'service-bus/send/supervisor-hints-dead-letter': brokerForwards,
};
