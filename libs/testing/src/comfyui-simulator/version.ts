/**
 * Versions of ComfyUI whose habits the simulator has. The recordings are of `0.3.64`. `0.33.0` also has the routes below
 * `/api/jobs`, accepts only a canonical UUID as prompt id, tags the lines of its log with their level in colour, reports an
 * unknown class as `missing_node_type`, and takes an `AcceleratorError` without memory for what it is. Its cache keeps more than the last
 * prompt only where 128 GiB of memory are free: not here.
 */
export type SimulatedVersion = '0.3.64' | '0.33.0';
