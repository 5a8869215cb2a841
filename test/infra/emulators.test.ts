import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  composeAddresses,
  emulatorSettings,
  prepareEmulators,
  serviceBusConfigFile,
  writeServiceBusConfig,
} from '../../infra/emulators/index.js';
import { serviceBusEmulatorConfig } from '../../infra/emulators/service-bus-config.js';
import { topologySchema } from '../../infra/emulators/topology.js';
import { startCosmosDb } from '../../local/cosmos-db/index.js';
import { startBroker } from '../../local/service-bus/index.js';
import { projectRoot } from './support/bicep.js';

const topologyText = readFileSync(join(projectRoot, 'infra', 'topology.json'), 'utf8');
const topology = topologySchema.parse(JSON.parse(topologyText));

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'emulators-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A server on a free port that answers with a status, or hands the request on. */
async function serve(handle: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("the Service Bus emulator's configuration", () => {
  const { config, differences } = serviceBusEmulatorConfig(topology);
  const [namespace] = config.UserConfig.Namespaces;
  const names = namespace.Queues.map(({ Name }) => Name);

  it('has every queue of the topology, targets of forwarding before their sources (E1)', () => {
    const { queues, deadLetterQueue, statusQueue } = topology.serviceBus;
    const expected = [
      ...queues.flatMap(({ name }) => [name, `${name}${deadLetterQueue.nameSuffix}`]),
      ...topology.applications.map(({ name }) => `${statusQueue.namePrefix}${name}`),
    ];
    expect([...names].sort()).toEqual(expected.sort());
    for (const { Name, Properties } of namespace.Queues) {
      const target = Properties['ForwardDeadLetteredMessagesTo'];
      if (target !== undefined) expect(names.indexOf(String(target))).toBeLessThan(names.indexOf(Name));
    }
  });

  it("stays within the emulator's limits and says where it differs from Azure (E2)", () => {
    const orders = namespace.Queues.find(({ Name }) => Name === 'orders')?.Properties;
    expect(orders).toMatchObject({
      DefaultMessageTimeToLive: 'PT1H',
      DuplicateDetectionHistoryTimeWindow: 'PT5M',
      LockDuration: 'PT1M',
      RequiresDuplicateDetection: false,
    });
    expect(differences).toContain('orders: DefaultMessageTimeToLive P14D becomes PT1H');
    expect(differences).toContain('orders: DuplicateDetectionHistoryTimeWindow PT10M becomes PT5M');
    expect(differences.filter((line) => line.includes('LockDuration'))).toEqual([]);
  });

  it('raises what is below the limits and lowers what is above', () => {
    const { queueDefaults } = topology.serviceBus;
    const odd = { name: 'odd', lockDuration: 'PT1S', maxDeliveryCount: 20, defaultMessageTimeToLive: 'PT1M' };
    const changed = { ...topology, serviceBus: { ...topology.serviceBus, queueDefaults, queues: [odd] } };
    const queues = serviceBusEmulatorConfig(changed).config.UserConfig.Namespaces[0].Queues;
    expect(queues.find(({ Name }) => Name === 'odd')?.Properties).toMatchObject({
      LockDuration: 'PT5S',
      MaxDeliveryCount: 10,
      DefaultMessageTimeToLive: 'PT5M',
    });
  });

  it('is refused when the emulator could not hold it', () => {
    const applications = Array.from({ length: 50 }, (_, index) => ({ name: `shop-${index}` }));
    expect(() => serviceBusEmulatorConfig({ ...topology, applications })).toThrow(/holds 50 queues/);
  });

  it('starts a broker whose dead letters go where the operator looks', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'Config.json');
    await writeServiceBusConfig(JSON.parse(topologyText), file);
    const broker = await startBroker({
      dataDirectory: join(folder, 'data'),
      fsync: 'never',
      topology: JSON.parse(readFileSync(file, 'utf8')),
    });
    const client = new ServiceBusClient(broker.connectionString);
    onTestFinished(async () => {
      await client.close();
      await broker.close();
    });
    await client.createSender('orders').sendMessages({ messageId: 'm-1', body: 'not an order' });
    const receiver = client.createReceiver('orders');
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 5_000 });
    if (message === undefined) throw new Error('nothing arrived');
    await receiver.deadLetterMessage(message, { deadLetterReason: 'InvalidMessage', deadLetterErrorDescription: '' });
    const [dead] = await client.createReceiver('orders-dead-letter').receiveMessages(1, { maxWaitTimeInMs: 5_000 });
    expect(dead).toMatchObject({ messageId: 'm-1', deadLetterReason: 'InvalidMessage' });
  });
});

describe('preparing the emulators', () => {
  async function cosmosDb(): Promise<{ endpoint: string; key: string }> {
    const server = await startCosmosDb({
      dataDirectory: temporaryFolder(),
      fsync: 'never',
      topology: { cosmosDb: { database: 'another', containers: [] } },
    });
    onTestFinished(() => server.close());
    return { endpoint: server.endpoint, key: server.key };
  }

  async function addressesWith(account: { endpoint: string; key: string }): Promise<typeof composeAddresses> {
    const healthy = await serve((_, response) => response.end());
    return { serviceBusHealth: healthy, cosmosDbHealth: healthy, cosmosDb: account };
  }

  it('makes the containers of the topology, and finds them made the second time', async () => {
    const account = await cosmosDb();
    const addresses = await addressesWith(account);
    await prepareEmulators(JSON.parse(topologyText), addresses);
    await prepareEmulators(JSON.parse(topologyText), addresses);
    const client = new CosmosClient(account);
    const { resources } = await client.database(topology.cosmosDb.database).containers.readAll().fetchAll();
    expect(resources.map(({ id }) => id).sort()).toEqual(topology.cosmosDb.containers.map(({ name }) => name).sort());
    const { resources: left } = await client
      .database(topology.cosmosDb.database)
      .container('order-state')
      .items.readAll()
      .fetchAll();
    expect(left).toEqual([]);
    client.dispose();
  });

  it('refuses an emulator that lets a stale conditional write through (C69)', async () => {
    const account = await cosmosDb();
    const lax = await serve((incoming, response) => {
      const headers = { ...incoming.headers };
      delete headers['if-match'];
      const target = new URL(incoming.url ?? '/', account.endpoint);
      const forwarded = httpRequest(target, { method: incoming.method ?? 'GET', headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(forwarded);
    });
    const addresses = await addressesWith({ endpoint: lax, key: account.key });
    await expect(prepareEmulators(JSON.parse(topologyText), addresses)).rejects.toThrow(
      /let a stale conditional write to orders through/,
    );
  });

  it('says how to start an emulator that does not answer', async () => {
    const sick = await serve((_, response) => response.writeHead(503).end());
    const addresses = { ...composeAddresses, serviceBusHealth: sick };
    await expect(prepareEmulators(JSON.parse(topologyText), addresses, 1)).rejects.toThrow(
      `The Service Bus emulator does not answer at ${sick}. Start it with "docker compose up`,
    );
  });
});

describe('compose.yaml', () => {
  const text = readFileSync(join(projectRoot, 'compose.yaml'), 'utf8');

  it('publishes every port on 127.0.0.1 only', () => {
    const published = [...text.matchAll(/^ +- (\S*\d+:\d+)$/gm)].map(([, port]) => port);
    expect(published.length).toBeGreaterThan(6);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('pins every image to a version', () => {
    const images = [...text.matchAll(/image: (\S+)/g)].map(([, image]) => String(image));
    expect(images).toHaveLength(4);
    for (const image of images) expect(image).toMatch(/:(?!latest$)\S*\d/);
  });

  it('mounts the file that `npm run emulators:config` writes, and listens where the settings point', () => {
    expect(text).toContain(`./${serviceBusConfigFile}:/ServiceBus_Emulator/ConfigFiles/Config.json`);
    expect(emulatorSettings.COSMOS_ENDPOINT).toContain(':8081/');
    for (const port of ['5672', '5300', '8081', '8080', '10000', '10001', '10002']) {
      expect(text).toContain(`127.0.0.1:${port}:${port}`);
    }
  });

  it('spells the emulator switch as the client library wants it (C64)', () => {
    expect(emulatorSettings.ServiceBusConnection).toMatch(/;UseDevelopmentEmulator=true$/);
  });
});
