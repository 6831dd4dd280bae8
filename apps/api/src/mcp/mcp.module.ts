import { Module } from '@nestjs/common';
import { AssetsModule } from '../assets';
import { JobsModule } from '../jobs';
import { JobViews } from './job-views';
import { JobWatch } from './job-watch';
import { McpController } from './mcp.controller';
import { McpServers, TOOLS } from './mcp-servers';
import { NodeSearch } from './node-search';
import { OutputContent } from './output-content';
import {
  CancelJobTool,
  DescribeNodesTool,
  EstimateJobTool,
  ListJobsTool,
  ReadOutputsTool,
  RunJobTool,
  SearchNodesTool,
  UploadFileTool,
  WaitForJobTool,
} from './tools';
import type { Tool } from './tool';

/** In the order in which a model meets them. */
const TOOL_CLASSES = [
  SearchNodesTool,
  DescribeNodesTool,
  EstimateJobTool,
  UploadFileTool,
  RunJobTool,
  WaitForJobTool,
  ReadOutputsTool,
  ListJobsTool,
  CancelJobTool,
];

/** The MCP server: what agents do with the service, by the tools of their protocol. */
@Module({
  imports: [JobsModule, AssetsModule],
  controllers: [McpController],
  providers: [
    McpServers,
    JobViews,
    JobWatch,
    NodeSearch,
    OutputContent,
    ...TOOL_CLASSES,
    { provide: TOOLS, useFactory: (...tools: Tool[]) => tools, inject: TOOL_CLASSES },
  ],
})
export class McpModule {}
