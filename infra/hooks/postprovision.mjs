// After provisioning: waits until the app's rights on the storage account can be expected to hold. A role assignment is accepted at
// once but takes minutes to reach every server; a deployment before that ends in 403. Old assignments cost no wait.

import { setTimeout as delay } from 'node:timers/promises';
import { createResourceManager, environmentValue, resourcePath, runHook, secondsSetting } from './azd.mjs';

await runHook(async () => {
  const propagationSeconds = secondsSetting('ROLE_PROPAGATION_SECONDS', 300);
  const manager = await createResourceManager();
  const account = resourcePath('Microsoft.Storage/storageAccounts', environmentValue('STORAGE_ACCOUNT_NAME'));
  const path = `${account}/providers/Microsoft.Authorization/roleAssignments?api-version=2022-04-01&$filter=atScope()`;
  const { value: assignments } = await manager.get(path);
  const newest = Math.max(0, ...assignments.map(({ properties }) => Date.parse(properties.createdOn)));
  const remainingMs = newest + propagationSeconds * 1000 - Date.now();
  if (remainingMs <= 0) return;
  console.log(`Waiting ${Math.ceil(remainingMs / 1000)} s for the app's rights on the storage account.`);
  await delay(remainingMs);
});
