/**
 * The entry of the function app. If a setting cannot work, only `health` is registered, which names the setting: an app
 * without any function would look healthy from outside, and functions without settings would use up the deliveries of
 * their messages.
 */
import './operator/health.function.js';
import { startProblems } from './config/start-problems.js';
import { createTelemetry, processLog } from './telemetry/telemetry.js';

if (startProblems.length === 0) {
  await import('./roles.js');
} else {
  const telemetry = createTelemetry(processLog);
  telemetry.alert('settings-wrong', { problems: startProblems.join('; ') });
}
