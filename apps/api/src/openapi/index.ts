export { AdminOpenApiModule, OpenApiModule } from './openapi.module';
