// Makes two functions of ggml's CPU backend replaceable, without a change of its source: included
// before ggml-cpu.c, which calls both itself. A weak definition gives way to that of
// native/threads/graphs.cc, and no call of it is inlined; the original keeps a name of its own.

#pragma once

#pragma weak ggml_barrier
#pragma weak ggml_graph_compute
#pragma weak oi_stock_barrier = ggml_barrier
#pragma weak oi_stock_graph_compute = ggml_graph_compute
