/** CPU and memory of other processes, as the operating system counts them. Linux only; elsewhere the figures are absent. */
import { existsSync, readFileSync } from 'node:fs';

/** CPU time used so far, resident memory and its peak. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryMiB: number;
  readonly peakMemoryMiB: number;
}

/** Clock ticks a second of /proc, fixed at 100 by the kernel's interface. */
const ticksPerSecond = 100;

/** Usage of one process, or `undefined` where the system does not tell. */
export function usageOf(pid: number): ProcessUsage | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return {
    cpuMs: (ticks * 1000) / ticksPerSecond,
    memoryMiB: mebibytes('VmRSS'),
    peakMemoryMiB: mebibytes('VmHWM'),
  };
}
