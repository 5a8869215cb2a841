import { loadConfig, SettingsError } from './config.js';

/** What keeps the app from starting, found once when it is loaded; empty if nothing does. */
export const startProblems: readonly string[] = findProblems();

function findProblems(): readonly string[] {
  try {
    loadConfig();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}
