import { Module } from '@nestjs/common';
import { ExportDeliveriesController } from './export-deliveries.controller';
import { ExportDestinationController } from './export-destination.controller';

/** Where daily exports are written, and what was, to the account. */
@Module({ controllers: [ExportDestinationController, ExportDeliveriesController] })
export class ExportsModule {}
