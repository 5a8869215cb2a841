/** What one connection has been granted, by path. */
import { queueOf } from '../queue/entity-path.js';
import type { Right } from './rules.js';
import type { Grant } from './shared-access-signature.js';

/** The grants of one connection. */
export interface Claims {
  /** A later token for the same path replaces the earlier one. */
  grant(path: string, grant: Grant): void;
  /** True when a grant that has not expired gives the right on the queue, its sub-queue or the namespace. */
  allows(entity: string, right: Right, now: number): boolean;
}

/** Starts without any grant. */
export function createClaims(): Claims {
  const byPath = new Map<string, Grant>();
  return {
    grant(path, grant) {
      byPath.set(path.toLowerCase(), grant);
    },
    allows(entity, right, now) {
      const name = entity.toLowerCase();
      const paths = [name, `${name}/$management`, queueOf(name), ''];
      return paths.some((path) => {
        const grant = byPath.get(path);
        return grant !== undefined && grant.expiresAt > now && includes(grant, right);
      });
    },
  };
}

function includes({ rights }: Grant, right: Right): boolean {
  return rights.includes(right) || rights.includes('Manage');
}
