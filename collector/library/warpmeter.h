// SPDX-License-Identifier: MIT
//
// libwarpmeter: a program measures the kernels that a part of itself launches.
//
//     warpmeter_use_model("sm_90");  // without a GPU; before CUDA is loaded
//     warpmeter_meter* meter;
//     warpmeter_open("warpmeter.db", NULL, &meter);
//     warpmeter_begin(meter, NULL, 0, "before");
//     launch_something();
//     int64_t run;
//     warpmeter_end(meter, &run);
//     warpmeter_close(meter);
//
// Every function that returns int returns 0, or an exit code of the program `warpmeter` (2 wrong
// usage, 3 nothing measured or inconclusive, 4 no hardware, 5 a file or database failed, 6 a kernel
// failed; 1 only warpmeter_check: the gate is broken). warpmeter_message() then is one sentence
// that says what happened and what to do.
//
// Any thread may call any function. One range can be open in a process; a process that was forked
// from one that uses this library cannot use it. Texts are UTF-8.
#ifndef WARPMETER_H
#define WARPMETER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WARPMETER_API __attribute__((visibility("default")))

// An open database.
typedef struct warpmeter_meter warpmeter_meter;

// "warpmeter 0.1.0 (git 0123456789ab, CUDA 13.0.88)"
WARPMETER_API const char* warpmeter_version(void);

// The sentence of this thread's last call that failed; "" before. It stays until this thread's next
// failure.
WARPMETER_API const char* warpmeter_message(void);

// Kernels of this process are executed by the model as the architecture ("sm_90"; NULL: that one).
// To be called before anything loads CUDA; 2 when CUDA is here already. A second call with the same
// architecture does nothing.
WARPMETER_API int warpmeter_use_model(const char* architecture);

// The folder of a libcuda.so.1 that stands in for the machine's since warpmeter_use_model(), for
// what links with that file while the process lives; "" where the machine has its own.
WARPMETER_API const char* warpmeter_libcuda_folder(void);

// The text of a source that no file holds, as a notebook's cell: lines of kernels that name the
// file have it on the model. To be called outside of ranges.
WARPMETER_API int warpmeter_keep_source(const char* file, const char* text);

// Opens a database, which is created where there is none. `program`: the family that launches are
// listed under; NULL: the name of the process's program.
WARPMETER_API int warpmeter_open(const char* database, const char* program,
                                 warpmeter_meter** opened);
// A range that is open ends unread. NULL: nothing.
WARPMETER_API void warpmeter_close(warpmeter_meter* meter);

// Measures the launches of all threads from now on. `metrics`: names of metrics, counters and sets;
// none: "@default". On a GPU all ranges of a process have the metrics of the first. `label`: the
// label of the run in the database; NULL: none.
WARPMETER_API int warpmeter_begin(warpmeter_meter* meter, const char* const* metrics, size_t count,
                                  const char* label);
// Waits for the launches and stores them. `run`: their run in the database. 3 when nothing was
// launched, 6 when a kernel failed: its run is stored.
WARPMETER_API int warpmeter_end(warpmeter_meter* meter, int64_t* run);
// Remarks on the last range that ended, one a line: launches that were not measured and why. To be
// freed.
WARPMETER_API int warpmeter_remarks(warpmeter_meter* meter, char** text);

// The UUID of the run of the last range that ended, "" where it has none. Numbers of runs that were
// removed are used again, UUIDs never. To be freed.
WARPMETER_API int warpmeter_uuid(warpmeter_meter* meter, char** text);

// The values of a metric, one a launch in their order; NAN where there is none. Writes no more than
// `room`; `count`: how many launches there are. 2 for a metric or run that there is not.
WARPMETER_API int warpmeter_values(warpmeter_meter* meter, int64_t run, const char* metric,
                                   double* values, size_t room, size_t* count);
// The cost of a run's launches together, by a metric; less is better. Counts, times and energy are
// added up. A quotient (transactions per request, an efficiency) is that of the sums. The least
// rate without counters stands for all, and the greatest power, clock or temperature. A metric of
// which more is better has the other sign. NAN where a launch has no value, or where the quotient
// divides by 0.
WARPMETER_API int warpmeter_cost(warpmeter_meter* meter, int64_t run, const char* metric,
                                 double* cost);
// The rows of a statement that reads the public views, as a JSON array of objects. To be freed.
WARPMETER_API int warpmeter_query(warpmeter_meter* meter, const char* sql, char** text);
// The report on a run: "markdown", "table", "html", "csv" or "json". To be freed.
WARPMETER_API int warpmeter_report(warpmeter_meter* meter, int64_t run, const char* format,
                                   char** text);
// Which lines cost too much and what would help: "table", "markdown", "html" or "json". `top`: the
// most findings of a launch; 0: those that the program shows. To be freed.
WARPMETER_API int warpmeter_explain(warpmeter_meter* meter, int64_t run, const char* format,
                                    int64_t top, char** text);
// Judges a gate ("shared_load_transactions_per_request <= 1") on every launch: 0 holds, 1 broken, 3
// inconclusive. The verdicts as a table in all three cases. To be freed.
WARPMETER_API int warpmeter_check(warpmeter_meter* meter, int64_t run, const char* gate,
                                  char** text);

WARPMETER_API void warpmeter_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
