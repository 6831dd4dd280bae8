export { BalanceRepair, type Rebuild } from './balance-repair';
export { RepairStore } from './repair.store';
