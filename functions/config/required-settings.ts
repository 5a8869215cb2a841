/** Imported first by the app: a wrong setting stops the start before anything is registered. */
import { loadConfig } from './config.js';

loadConfig();
