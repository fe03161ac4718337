/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast record`: where in a program its energy goes. A program of its own, as no other needs libdw. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/options.h"
#include "api/first-day.h"
#include "calls.h"
#include "harness/script-file.h"
#include "listener.h"
#include "model/profile.h"
#include "probe.h"
#include "script-save.h"
#include "side.h"
#include "stop.h"
#include "util/util.h"
#include "util/words.h"

#define RUNS_MAX 100
#define SIDES_MAX 2

struct request {
        struct options options;
        uint64_t runs, stack_kb;
        const char *output, *also, *input, *probe, *save;
        bool terminal, wayland, calls;
        struct script script;
        struct listener *listener; /* for --input-save */
        struct profile *profile;
        struct tracepoints tracepoints;
        bool has_tracepoints;
        struct side sides[SIDES_MAX];
        size_t n_sides;
};

static void request_clear(struct request *request)
{
        for (size_t i = 0; i < request->n_sides; i++)
                side_clear(&request->sides[i]);
        script_clear(&request->script);
        listener_free(request->listener);
        profile_free(request->profile);
}

/* Without a profile, and without a battery whose class is known, CPU time is what is recorded. */
static int read_profile(struct request *request)
{
        const struct options *options = &request->options;
        _cleanup_free_ char *path = NULL;
        int code = open_find_profile(options, &path);

        if (code != CODE_OK)
                return code;
        if (!path && first_day_profile(options->device, options->machine, NULL, NULL, 0, &request->profile) < 0) {
                log_info(&program_log, "there is no profile of this machine: samples stand for CPU time, and "
                         "bytes have no price; --profile NAME takes another one");
                return CODE_OK;
        }
        if (request->profile)
                return CODE_OK;
        code = open_profile(options, &request->profile);
        return code == CODE_OK ? open_check_device(options, request->profile) : code;
}

static void find_tracepoints(struct request *request)
{
        int err = tracepoints_find(&request->tracepoints);

        request->has_tracepoints = err == 0 && request->tracepoints.n > 0;
        if (!request->has_tracepoints)
                log_info(&program_log, err == -EACCES
                         ? N_("only root can read tracepoints here: bytes of disk and network are charged to "
                              "nobody, and threads begin at the root of the stacks")
                         : N_("tracepoints cannot be read: bytes of disk and network are charged to nobody, "
                              "and threads begin at the root of the stacks"));
}

static struct run_wish wish_of(const struct request *request, const struct side *side)
{
        return (struct run_wish){
                .argv = side->argv,
                .folder = side->folder.inside,
                .profile = request->profile,
                .tracepoints = request->has_tracepoints ? &request->tracepoints : NULL,
                .script = request->input ? &request->script : NULL,
                .where = request->terminal ? PLAYER_TERMINAL :
                         request->wayland  ? PLAYER_WAYLAND :
                                             PLAYER_DISPLAY,
                .stack_kb = (unsigned)request->stack_kb,
                .listener = request->listener,
        };
}

/* A B A B: what changes on the machine in the meantime meets both. */
static int record_runs(struct request *request)
{
        for (size_t i = 0; i < request->runs; i++)
                for (size_t j = 0; j < request->n_sides; j++) {
                        struct side *side = &request->sides[j];
                        const struct run_wish wish = wish_of(request, side);
                        int err = run_once(&wish, &side->runs[side->n]);

                        if (err)
                                return err;
                        side->n++;
                        if (!side->runs[side->n - 1].played) {
                                log_error(&program_log,
                                          "run %zu ended before its input script did, so it did not do all of "
                                          "that; nothing was "
                                          "written",
                                          i + 1);
                                return -ECANCELED;
                        }
                }
        return 0;
}

static int count_side(const struct request *request, struct side *side, struct called_list *list)
{
        const struct run_wish wish = wish_of(request, side);
        int err = run_counted(&wish, list);

        if (!err) {
                side->calls = calls_print(list);
                side->frames = calls_frames(list);
        }
        calls_close(list);
        return err ? err : side->calls ? 0 : -ENOMEM;
}

/* The same functions on both sides, so that a call that one side hardly makes is counted there, too. */
static int count_calls(struct request *request)
{
        _cleanup_(calls_clear) struct called_list list = CALLED_LIST_EMPTY;
        int err = 0;

        for (size_t j = 0; !err && j < request->n_sides; j++)
                err = calls_add(&list, &request->sides[j].runs[0].recording);
        for (size_t j = 0; !err && j < request->n_sides; j++)
                err = count_side(request, &request->sides[j], &list);
        return err;
}

static void print_side(const struct side *side, const struct request *request)
{
        double sum = 0, cpu_s = 0;
        uint64_t samples = 0;
        char path[256];

        for (size_t i = 0; i < side->n; i++) {
                const struct recording *recording = &side->runs[i].recording;

                for (size_t j = 0; j < recording->n; j++)
                        for (size_t k = 0; k < COMPONENT_COUNT; k++)
                                sum += recording->lines[j].energy_nj[k];
                samples += recording->samples;
                cpu_s += side->runs[i].result.cpu_s;
        }
        util_printable(side->folder.path, path, sizeof(path));
        printf(words_counted("%s: %zu run, %llu samples, ", "%s: %zu runs, %llu samples, ", side->n), path, side->n,
               (unsigned long long)samples);
        if (request->profile)
                printf(_("%.3g J a run by the profile of %s\n"), sum / 1e9 / (double)side->n, request->profile->device);
        else
                printf(_("%.3f s of CPU time a run\n"), cpu_s / (double)side->n);
}

static int record(struct request *request)
{
        struct recorded_how how = { .profile = request->profile, .script = request->input,
                                    .tracepoints = request->has_tracepoints ? &request->tracepoints : NULL };
        int err = record_runs(request);

        for (size_t i = 0; !err && i < request->n_sides; i++)
                err = side_check(&request->sides[i]);
        if (!err && request->calls)
                err = count_calls(request);
        if (!err && request->n_sides == 2)
                err = side_compare(&request->sides[0], &request->sides[1], request->input);
        if (!err && stop_asked())
                err = -EINTR;
        if (err == -EINTR)
                log_error(&program_log, "stopped; nothing was written");
        how.know_clock = !err && request->sides[0].runs[0].know_clock;
        if (!err && request->listener)
                err = listener_write(request->listener, request->save);
        for (size_t i = 0; !err && i < request->n_sides; i++)
                err = side_write(&request->sides[i], &how);
        for (size_t i = 0; !err && i < request->n_sides; i++)
                print_side(&request->sides[i], request);
        return err ? CODE_FAILED : CODE_OK;
}

static int open_sides(struct request *request, char **command)
{
        const char *outputs[SIDES_MAX] = { request->output, request->also };
        char **at = command;

        for (size_t i = 0; i < SIDES_MAX && outputs[i]; i++) {
                struct side *side = &request->sides[i];

                request->n_sides++;
                side->argv = at;
                side->frames = -1;
                side->runs = calloc(request->runs, sizeof(*side->runs));
                if (!side->runs || folder_open(outputs[i], &side->folder) < 0)
                        return CODE_FAILED;
                while (*at && !(request->also && strcmp(*at, ":::") == 0))
                        at++;
                if (*at)
                        *at++ = NULL;
        }
        return CODE_OK;
}

static int usage_fault(const char *what)
{
        log_error(&program_log, "record: %s; see joulecast record --help", _(what));
        return CODE_USAGE;
}

/*
 * Where the function begins in its file, from a run that is watched as for a recording. 0; 1: no sample is
 * of it; a negative errno.
 */
static int find_function(const struct request *request, char **argv, char **path, uint64_t *offset)
{
        const char *folder = getenv("TMPDIR");
        const struct run_wish wish = { .argv = argv, .folder = folder && *folder ? folder : "/var/tmp",
                                       .stack_kb = (unsigned)request->stack_kb };
        struct run run;
        int err = run_once(&wish, &run);
        int64_t name;

        if (err)
                return err;
        name = words_look_up(run.recording.frames, request->probe, strlen(request->probe));
        err = 1;
        if (name >= 0 && (size_t)name < run.recording.places.capacity && run.recording.places.list[name].known) {
                const struct place *place = &run.recording.places.list[name];

                *path = strdup(words_bytes(run.recording.frames, place->path, NULL));
                *offset = place->offset;
                err = *path ? 0 : -ENOMEM;
        }
        run_clear(&run);
        return err;
}

static int probe_commands(const struct request *request, char **commands[SIDES_MAX])
{
        struct probed *probed[SIDES_MAX] = { NULL };
        _cleanup_free_ char *path = NULL;
        uint64_t offset = 0;
        char name[256];
        int err = 1;

        for (size_t i = 0; err == 1 && i < SIDES_MAX && commands[i]; i++)
                err = find_function(request, commands[i], &path, &offset);
        if (err == 1)
                log_error(&program_log, "no sample is of %s: its name must be as in a recording, like read@libc.so.6",
                          util_printable(request->probe, name, sizeof(name)));
        for (size_t i = 0; err == 0 && i < SIDES_MAX && commands[i]; i++)
                err = probe_run(commands[i], path, offset, &probed[i]);
        if (err == 0)
                probe_print(request->probe, probed[0], probed[1]);
        for (size_t i = 0; i < SIDES_MAX; i++)
                probe_free(probed[i]);
        return err ? CODE_FAILED : CODE_OK;
}

/* One command, or two with ":::" between, which is cut. */
static int probe(const struct request *request, char **command)
{
        char **commands[SIDES_MAX] = { command };
        size_t n = 1;

        for (char **at = command; at && *at; at++)
                if (strcmp(*at, ":::") == 0) {
                        if (n == SIDES_MAX || at == command || !at[1])
                                return usage_fault("--probe takes one command, or two with ::: between");
                        *at = NULL;
                        commands[n++] = at + 1;
                }
        if (!command || !*command)
                return usage_fault("a command is needed behind --, as in: joulecast record -o RUN -- gzip -k file");
        return probe_commands(request, commands);
}

/* CODE_OK, or CODE_USAGE after its sentence. */
static int check_request(const struct request *request, char **command)
{
        size_t separators = 0, n = 0;

        for (; command && command[n]; n++)
                separators += strcmp(command[n], ":::") == 0;
        if (request->save && n == 0)
                return usage_fault("a command is needed behind --, as in: joulecast record --input-save FILE -- ./app");
        if (request->save && request->terminal && request->output)
                return usage_fault("--input-save with --terminal records nothing else: leave out -o");
        if (request->save && !request->output)
                return CODE_OK;
        if (!request->output)
                return usage_fault("-o RUN is needed, the folder to make");
        if (n == 0)
                return usage_fault("a command is needed behind --, as in: joulecast record -o RUN -- gzip -k file");
        if (request->also && (separators != 1 || strcmp(command[0], ":::") == 0 || strcmp(command[n - 1], ":::") == 0))
                return usage_fault("--also needs two commands, as in: -o A --also B -- gzip -k file ::: zstd -k file");
        if (request->also && strcmp(request->also, request->output) == 0)
                return usage_fault("-o and --also name the same folder: give the second program another one");
        if (request->terminal && !request->input && !request->save)
                return usage_fault("--terminal is for --input and --input-save");
        if (request->wayland && !request->input)
                return usage_fault("--wayland is for --input");
        return CODE_OK;
}

/* Returns the command behind "--", and cuts @argc and @argv before it. NULL: there is no "--". */
static char **take_command(int *argc, char **argv)
{
        for (int i = 1; i < *argc; i++)
                if (strcmp(argv[i], "--") == 0) {
                        *argc = i;
                        argv[i] = NULL;
                        return &argv[i + 1];
                }
        return NULL;
}

static int save_input(const struct request *request, char **command)
{
        int err = request->terminal ? script_save(command, request->save) : script_save_windows(command, request->save);

        return err ? CODE_FAILED : CODE_OK;
}

static int record_main(int argc, char **argv)
{
        /* After the folders that were begun are removed. */
        _cleanup_(stop_release) struct stop stop = { .held = false };
        _cleanup_(request_clear) struct request request = { .runs = 3, .stack_kb = EVENTS_STACK_KB };
        const struct option_row rows[] = {
                { "output", "RUN", N_("the folder to make, with the recording in it"), .letter = 'o',
                  .text = &request.output },
                { "runs", "N", N_("how often the program runs"), .usual = "3", .count = &request.runs,
                  .low = 1, .high = RUNS_MAX },
                { "also", "RUN", N_("the folder for a second command, whose runs alternate with those of the first"),
                  .text = &request.also },
                { "input", "FILE", N_("a script of keys and clicks, played to the program in an X server of its own"),
                  .text = &request.input },
                { "input-save", "FILE",
                  N_("write what you do in the program's windows to this file, as a script for --input; with -o "
                     "that one run is recorded, too"),
                  .text = &request.save, .excludes = "also input calls wayland runs" },
                { "terminal",
                  .help = N_("with --input: play it in a terminal of its own; with --input-save: write what you "
                             "type in this terminal"),
                  .flag = &request.terminal },
                { "wayland",
                  .help = N_("with --input: play it in a Wayland compositor of its own (sway) instead of an X server"),
                  .flag = &request.wayland, .excludes = "terminal" },
                { "stack", "KB", N_("how much of the stack each sample keeps; give more if callers are missing"),
                  .usual = "8", .count = &request.stack_kb, .low = 1, .high = EVENTS_STACK_KB_MAX },
                { "probe", "FUNCTION", N_("record nothing, but show the arguments of FUNCTION@FILE; needs root"),
                  .text = &request.probe, .excludes = "output also input input-save terminal wayland calls runs" },
                { "calls",
                  .help = N_("run the program once more to count calls of library functions and frames shown; needs "
                             "root"),
                  .flag = &request.calls },
        };
        const struct option_table table = {
                .called = "joulecast record",
                .usage = "joulecast record -o RUN -- COMMAND [ARGUMENTS]\n"
                         "joulecast record -o A --also B -- COMMAND ... ::: COMMAND ...\n"
                         "joulecast record --probe FUNCTION@FILE -- COMMAND ... [::: COMMAND ...]\n"
                         "joulecast record --input-save FILE [-o RUN] -- COMMAND [ARGUMENTS]",
                .about = N_("Runs a program and records where in it the energy goes: its call stacks, 997 times a "
                            "second of CPU time, priced by the power model of this machine. joulecast diff compares "
                            "two recordings. Everything after -- belongs to the command; with --also, ::: separates "
                            "the two commands."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        char **command = take_command(&argc, argv);
        int code = options_parse(&table, SHARED_DEVICE | SHARED_PROFILE, argc, argv, &request.options);

        if (code >= 0)
                return code;
        if (request.probe)
                return probe(&request, command);
        code = check_request(&request, command);
        if (request.save)
                request.runs = 1; /* a user does it once */
        if (code == CODE_OK && request.save && !request.output)
                return save_input(&request, command);
        if (code == CODE_OK && request.input)
                code = script_file_read(request.input, &program_log, &request.script) < 0 ? CODE_FAILED : CODE_OK;
        if (code == CODE_OK)
                code = read_profile(&request);
        if (code == CODE_OK) {
                stop_hold(&stop);
                code = open_sides(&request, command);
        }
        if (code != CODE_OK)
                return code;
        if (request.save && (script_save_check(request.save) < 0 || listener_new(&request.listener) < 0))
                return CODE_FAILED;
        find_tracepoints(&request);
        return record(&request);
}

int main(int argc, char **argv)
{
        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        return options_finish(record_main(argc, argv), &program_log);
}
