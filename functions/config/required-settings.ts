/** Imported first by the app: a wrong setting stops the start before anything is registered. */
import { requireBoundedRetries } from './bounded-retries.js';
import { loadConfig } from './config.js';

requireBoundedRetries(loadConfig());
