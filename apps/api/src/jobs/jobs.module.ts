import { Module } from '@nestjs/common';
import { Destinations } from './destinations';
import { EstimatesController } from './estimates.controller';
import { EventsController } from './events.controller';
import { JobsAdminController } from './jobs.admin-controller';
import { JobsController } from './jobs.controller';
import { NodeClassesController } from './node-classes.controller';
import { PrintedNodeClasses } from './printed-classes';
import { ShownNodeClasses } from './shown-classes';

/** The jobs of a surface, to its callers. */
@Module({
  controllers: [JobsController, EstimatesController, EventsController, NodeClassesController],
  providers: [Destinations, ShownNodeClasses, PrintedNodeClasses],
  exports: [Destinations, ShownNodeClasses],
})
export class JobsModule {}

/** Jobs of all accounts, to operators. */
@Module({ controllers: [JobsAdminController], providers: [Destinations] })
export class JobsAdminModule {}
