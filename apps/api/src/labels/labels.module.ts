import { Module } from '@nestjs/common';
import { LabelRulesController } from './label-rules.controller';

/** Labels of jobs, as what an account limits them by. */
@Module({ controllers: [LabelRulesController] })
export class LabelsModule {}
