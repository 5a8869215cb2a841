/** What can be said of the example in C# without its SDK: its names are those of the contract and of the local stack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSampleSettings } from '../../local/stack-settings.js';
import { projectRoot } from './support/bicep.js';

const folder = 'examples/agent-dotnet';

function read(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}

function schemaOf(message: string): { readonly properties: object; readonly required: readonly string[] } {
  return JSON.parse(read(`docs/schemas/${message}.json`)) as ReturnType<typeof schemaOf>;
}

function camelCased(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function allMatches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name]) => camelCased(String(name)));
}

describe('the agent in C#', () => {
  it('reads every field that a request must have', () => {
    const fields = allMatches(read(`${folder}/AgentRequest.cs`), /public required \S+ (\w+) \{/g);
    expect(fields).toEqual(schemaOf('agent-request').required);
  });

  it('replies with the fields of the contract', () => {
    const parameters = /record AgentReply\(([^)]*)\)/.exec(read(`${folder}/AgentReply.cs`))?.[1] ?? '';
    const fields = allMatches(parameters, /(\w+)(?: = null)?(?:,|$)/gm).filter((name) => name !== 'string');
    const { properties, required } = schemaOf('agent-reply');
    expect(fields).toEqual(expect.arrayContaining([...required]));
    expect(Object.keys(properties)).toEqual(expect.arrayContaining([...fields]));
  });

  it('is started with the connection string of the local stack', () => {
    const { ServiceBusConnection: connection } = readSampleSettings(projectRoot);
    const launchSettings = JSON.parse(read(`${folder}/Properties/launchSettings.json`)) as unknown;
    expect(launchSettings).toHaveProperty('profiles.local-stack.environmentVariables', {
      SERVICE_BUS_CONNECTION: connection,
    });
  });
});
