/** What the bench of the embedded Cosmos DB measures, and how it is shown. */

/** Requests a second at the client, and CPU of the server for each. */
export interface RequestFigures {
  readonly perSecond: number;
  readonly serverCpuMs: number;
}

/** The supervisor's query, first page of 100, over so many documents of which 1 % are due. */
export interface QueryFigures {
  readonly documents: number;
  readonly firstPageP50Ms: number;
  readonly firstPageP99Ms: number;
  /** CPU of the server for a first page. */
  readonly serverCpuMs: number;
  readonly modelledCharge: number;
  /** Start on these documents, and memory of the server then. */
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly memoryMiB: number;
}

export interface CosmosDbFigures {
  readonly bare: { readonly read: RequestFigures; readonly replace: RequestFigures };
  readonly cosmosDb: { readonly read: RequestFigures; readonly replace: RequestFigures };
  readonly queries: readonly QueryFigures[];
}

/** Prints each figure beside its floor. */
export function printFigures({ bare, cosmosDb, queries }: CosmosDbFigures): void {
  for (const [name, floor, own] of [
    ['point read', bare.read, cosmosDb.read],
    ['conditional replace', bare.replace, cosmosDb.replace],
  ] as const) {
    console.log(
      `${name}: ${own.perSecond.toFixed(0)}/s (bare HTTP server ${floor.perSecond.toFixed(0)}/s, ` +
        `ratio ${(own.perSecond / floor.perSecond).toFixed(2)}), CPU of the server ${own.serverCpuMs.toFixed(3)} ms ` +
        `(bare ${floor.serverCpuMs.toFixed(3)} ms)`,
    );
  }
  for (const row of queries) {
    console.log(
      `supervisor query, ${row.documents} documents, 1 % due: p50 ${row.firstPageP50Ms.toFixed(2)} ms, ` +
        `p99 ${row.firstPageP99Ms.toFixed(2)} ms, CPU of the server ${row.serverCpuMs.toFixed(2)} ms, ` +
        `modelled charge ${row.modelledCharge}; start ${(row.startMs / 1000).toFixed(2)} s ` +
        `(CPU ${(row.startCpuMs / 1000).toFixed(2)} s), memory ${row.memoryMiB.toFixed(0)} MiB`,
    );
  }
}
