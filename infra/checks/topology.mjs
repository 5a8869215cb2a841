// The rules that topology.json must keep, checked before anything is created and in the gate.
//
// T1  Names follow the grammar of the app and of the service, and none occurs twice.
// T2  Every queue fits the limits of Service Bus; a queue of the name that a dead-letter or status queue will get is refused.
// T3  Every container has a key, a consistent index and a known set of rights.

const applicationName = /^[a-z0-9][a-z0-9-]{0,39}$/;
const queueName = /^[a-z][a-z0-9-]{0,49}$/;
const containerName = /^[a-z][a-z0-9-]{0,62}$/;
const duration = /^P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const rights = ['create', 'read', 'replace', 'upsert', 'delete', 'query'];

/** Every problem of a topology, each as one sentence; none: it can be deployed. */
export function topologyProblems(topology) {
  const { applications = [], serviceBus = {}, cosmosDb = {} } = topology;
  return [
    ...nameProblems('application', applications, applicationName, '1 to 40 lower-case letters, digits or hyphens'),
    ...queueProblems(serviceBus, applications),
    ...containerProblems(cosmosDb),
  ];
}

function nameProblems(kind, items, grammar, form) {
  const names = items.map((item) => item.name);
  const bad = names.filter((name) => typeof name !== 'string' || !grammar.test(name));
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  return [
    ...(items.length === 0 ? [`There is no ${kind}; name at least one.`] : []),
    ...bad.map((name) => `${kind} "${name}": expected ${form}.`),
    ...twice.map((name) => `${kind} "${name}" is there twice; remove one.`),
  ];
}

function queueProblems({ queueDefaults = {}, queues = [], deadLetterQueue = {}, statusQueue = {} }, applications) {
  const derived = [
    ...queues.filter((queue) => queue.deadLetterQueue).map(({ name }) => `${name}${deadLetterQueue.nameSuffix}`),
    ...applications.map(({ name }) => `${statusQueue.namePrefix}${name}`),
  ];
  const taken = queues.map(({ name }) => name).filter((name) => derived.includes(name));
  const settings = [
    ...queues.map((queue) => [queue.name, { ...queueDefaults, ...queue }]),
    ['deadLetterQueue', { ...queueDefaults, ...deadLetterQueue }],
    ['statusQueue', { ...queueDefaults, ...statusQueue }],
  ];
  return [
    ...nameProblems('queue', queues, queueName, '1 to 50 lower-case letters, digits or hyphens, a letter first'),
    ...taken.map((name) => `queue "${name}": this name is made for a dead-letter or status queue; choose another.`),
    ...(queues.some(({ name }) => name === 'orders') ? [] : ['There is no queue "orders"; applications send to it.']),
    ...queues
      .filter((queue) => queue.deadLetterQueue !== true)
      .map(({ name }) => `queue "${name}": deadLetterQueue must be true; messages that cannot be read go there.`),
    ...settings.flatMap(([name, queue]) => settingProblems(name, queue)),
  ];
}

function settingProblems(name, queue) {
  const seconds = (property) => durationSeconds(queue[property]);
  const between = (property, low, high, form) =>
    seconds(property) >= low && seconds(property) <= high ? [] : [`queue "${name}": ${property} must be ${form}.`];
  const deliveries = queue.maxDeliveryCount;
  const sizes = [1024, 2048, 3072, 4096, 5120];
  return [
    ...between('lockDuration', 5, 300, 'PT5S to PT5M'),
    ...between('defaultMessageTimeToLive', 1, Infinity, 'a duration like P14D'),
    ...between('duplicateDetectionHistoryTimeWindow', 20, 7 * 86_400, 'PT20S to P7D'),
    ...(Number.isInteger(deliveries) && deliveries >= 1 && deliveries <= 2000
      ? []
      : [`queue "${name}": maxDeliveryCount must be a whole number from 1 to 2000.`]),
    ...duplicateProblems(name, queue.requiresDuplicateDetection),
    ...(sizes.includes(queue.maxSizeInMegabytes)
      ? []
      : [`queue "${name}": maxSizeInMegabytes must be one of ${sizes.join(', ')}.`]),
  ];
}

/**
 * Dead letters must all be kept: a message that is replayed and refused again comes with the same id. So must orders: their
 * ids are the applications' choice, and two applications may choose the same.
 */
const keepsEveryMessage = new Map([
  ['deadLetterQueue', 'dead letters'],
  ['orders', 'orders of applications that chose the same MessageId'],
]);

function duplicateProblems(name, detects) {
  const kept = keepsEveryMessage.get(name);
  if (kept !== undefined) {
    return detects === false
      ? []
      : [`queue "${name}": requiresDuplicateDetection must be false; it would drop ${kept}.`];
  }
  return detects === true
    ? []
    : [`queue "${name}": requiresDuplicateDetection must be true; every sender relies on it.`];
}

/** Seconds of an ISO 8601 duration; NaN if it is none. */
function durationSeconds(text) {
  const parts = typeof text === 'string' ? duration.exec(text) : null;
  if (parts === null) return NaN;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

function containerProblems({ database, containers = [] }) {
  return [
    ...(containerName.test(database ?? '')
      ? []
      : [`database "${database}": expected lower-case letters, digits or hyphens.`]),
    ...nameProblems('container', containers, containerName, 'lower-case letters, digits or hyphens, a letter first'),
    ...containers.flatMap((container) => rightsAndIndexProblems(container)),
  ];
}

function rightsAndIndexProblems({ name, partitionKey, access = [], indexingPolicy = {} }) {
  const unknown = access.filter((right) => !rights.includes(right));
  return [
    ...(/^\/[A-Za-z]+$/.test(partitionKey ?? '') ? [] : [`container "${name}": partitionKey must be a path like /id.`]),
    ...(access.length > 0 ? [] : [`container "${name}": access must name what the app does: ${rights.join(', ')}.`]),
    ...unknown.map((right) => `container "${name}": "${right}" is no right; use ${rights.join(', ')}.`),
    ...(indexingPolicy.indexingMode === 'consistent'
      ? []
      : [`container "${name}": indexingMode must be consistent, else its queries miss records.`]),
  ];
}
