import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { RequestLimits } from '../endpoints';
import { AdminOpenApiController, OpenApiController } from './openapi.controller';
import { ServedApi } from './served-api';

/** The public and the platform API as OpenAPI documents, and a page to read. */
@Module({ imports: [DiscoveryModule], controllers: [OpenApiController], providers: [ServedApi] })
export class OpenApiModule {}

/** The admin API as an OpenAPI document. */
@Module({ imports: [DiscoveryModule], controllers: [AdminOpenApiController], providers: [ServedApi, RequestLimits] })
export class AdminOpenApiModule {}
