export { DeliverExportsLoop } from './deliver-exports.loop';
export { ExportDeliveries } from './deliveries.service';
export { DELIVERY_STATES, type ExportDelivery } from './delivery';
export { DeliveryStore } from './delivery.store';
export { DestinationSecrets } from './destination-secrets';
export { DestinationStore } from './destination.store';
export { ExportDestinations } from './destinations.service';
export { ExportDeliverer } from './export-deliverer';
export {
  EXPORT_DISABLED_REASONS,
  type DestinationDraft,
  type ExportDestination,
  type ObjectWriter,
} from './export-destination';
export { exportSettings, type ExportSettings } from './export.settings';
export { ResealExportSecretsLoop } from './reseal-export-secrets.loop';
export { SweepExportsLoop } from './sweep-exports.loop';
