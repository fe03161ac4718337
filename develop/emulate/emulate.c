/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `joulecast emulate`: what would this app cost on a device that is not here? */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer-run.h"
#include "answer/answer.h"
#include "answer/options.h"
#include "box.h"
#include "commands.h"
#include "harness/script-file.h"
#include "host-link.h"
#include "packets/capture.h"
#include "util/util.h"

#define BENCH_S 0.05 /* for each kernel, each time: half a second in all */
#define BENCH_REPEATS 3
#define ARGUMENTS_MAX 4096
#define FACTOR_WRONG 0.1 /* a larger deviation means that the run's times are not the target's */

struct request {
        struct options options;
        const char *target, *network, *carrier, *signal, *net, *output, *input, *html, *app;
        bool terminal, screen, wait_all;
        double brightness_percent, battery_mwh, cpu_factor, limit_s;
        uint64_t seed, seeds;
        const char **arguments;
};

static enum box_net net_of(const char *word)
{
        return !word || strcmp(word, "outside") == 0 ? BOX_OUTSIDE :
               strcmp(word, "loopback") == 0         ? BOX_LOOPBACK :
                                                       BOX_NONE;
}

static int copy_text(const char *text, char **ret)
{
        *ret = text ? strdup(text) : NULL;
        return text && !*ret ? -ENOMEM : 0;
}

static int begin(const struct request *request, struct recorded_run *run)
{
        const char *network = request->network ? request->network : "wifi";
        _cleanup_free_ char *path = access(network, F_OK) == 0 && strchr(network, '/') ? realpath(network, NULL) : NULL;
        int err;

        *run = (struct recorded_run){ .brightness_percent = request->brightness_percent,
                                      .cpu_factor = request->cpu_factor };
        err = copy_text(request->target, &run->target);
        err = err ? err : copy_text(path ? path : network, &run->network);
        err = err ? err : copy_text(request->carrier, &run->carrier);
        err = err ? err : copy_text(request->signal, &run->signal);
        err = err ? err : copy_text(util_base_name(request->arguments[0]), &run->app);
        for (int k = 0; k < BENCH_KERNELS; k++)
                run->speed[k] = NAN;
        if (!err && isnan(run->cpu_factor))
                err = bench_run(BENCH_S, BENCH_REPEATS, run->speed);
        return err;
}

static void warn_of_outlived(const struct box_result *result, bool waited)
{
        char name[4 * RECORD_TASK_MAX];

        util_printable(result->outlived_name, name, sizeof(name));
        if (result->outlived && waited)
                log_warning(&program_log, "%u of the app's processes were still running after that time, such as %s, "
                            "and were ended; the answer is for what they did until then", result->outlived, name);
        else if (result->outlived)
                log_warning(&program_log, "%u of the app's processes were still running when its first one ended, such "
                            "as %s, and were ended with it; --wait-all waits for them", result->outlived, name);
}

static int run_once(const struct request *request, const struct answer_run *answer,
                    const struct box_plan *usual, struct run *ret)
{
        const struct scene_plan plan = { request->input, request->terminal, answer->target.screen.pixels };
        struct box_plan boxed = *usual;
        struct box_result result;
        struct scene scene = SCENE_NONE;
        struct run run = { .seed = usual->seed };
        int err = 0, ended;

        if (request->input || request->screen) {
                err = scene_start(&plan, &program_log, &scene);
                boxed.scene = &scene;
        }
        if (err)
                return err;
        err = box_run(&boxed, &program_log, &result);
        if (!err) {
                run = (struct run){ .seed = usual->seed,
                                    .wall_ns = result.wall_ns,
                                    .status = result.status,
                                    .means = result.means,
                                    .cpu_reached = result.cpu_reached,
                                    .outlived = result.outlived,
                                    .packets = result.packets,
                                    .n_packets = result.n_packets,
                                    .heads = result.heads,
                                    .cpu = result.cpu,
                                    .n_cpu = result.n_cpu,
                                    .tasks = result.tasks,
                                    .n_tasks = result.n_tasks,
                                    .names = result.names,
                                    .n_names = result.n_names };
                memcpy(run.slow_s, result.slow_s, sizeof(run.slow_s));
                warn_of_outlived(&result, request->wait_all);
                err = scene_frames(&scene, result.origin_ns, &run.frames, &run.n_frames);
        }
        ended = scene_end(&scene);
        if (ended && (!err || err == -ECANCELED))
                log_error(&program_log, "the run has no answer, as its screen or its input script failed");
        err = err ? err : ended;
        if (err)
                price_clear_run(&run);
        else
                *ret = run;
        return err;
}

/* The app under each seed. 0, or a negative errno after its sentence. */
static int run_app(const struct request *request, const struct answer_run *answer, struct recorded_run *run)
{
        int err = 0;

        for (uint64_t i = 0; !err && i < request->seeds; i++) {
                const struct box_plan plan = {
                        .arguments = (char *const *)request->arguments,
                        .quiet = request->options.json,
                        .net = net_of(request->net),
                        .network = &answer->network,
                        .radio = answer->target.has_radio ? &answer->target.radio : NULL,
                        .signal = answer->target.signal,
                        .seed = request->seed + i,
                        .factor = answer->condition.factor.value,
                        .cpus = answer->target.cpus,
                        .limit_s = request->limit_s,
                        .wait_all = request->wait_all,
                        .heads = request->output && capture_supported,
                };

                err = run_once(request, answer, &plan, &run->runs[run->n_runs]);
                run->n_runs += !err;
        }
        return err;
}

/* An exit code: of a failed app, after its sentence, the answer counts nevertheless. */
static int check_status(const struct recorded_run *run, bool limited)
{
        for (size_t i = 0; i < run->n_runs; i++) {
                int status = run->runs[i].status;

                if (WIFSIGNALED(status) && limited && WTERMSIG(status) == SIGKILL)
                        continue;
                if (WIFSIGNALED(status))
                        log_error(&program_log, "the app was ended by signal %d; the answer is for what it "
                                                "did until then",
                                  WTERMSIG(status));
                else if (WEXITSTATUS(status))
                        log_error(&program_log, "the app ended with exit code %d; the answer is for what it did",
                                  WEXITSTATUS(status));
                if (status)
                        return CODE_FAILED;
        }
        return CODE_OK;
}

/* Warns if the app ran slower or faster than it would on the target: the answer is then for another machine. */
static void warn_of_factor(const struct answer_run *answer)
{
        double wanted = answer->condition.factor.value, reached = answer->price.quality.cpu_reached;

        if (reached > wanted * (1 + FACTOR_WRONG))
                log_warning(&program_log, "the app's threads were %.3g times slower than here in place of %.3g, as "
                            "others used this machine's CPUs; run it again when they are idle", reached, wanted);
        if (reached < wanted * (1 - FACTOR_WRONG))
                log_warning(&program_log, "the app's threads were %.3g times slower than here in place of %.3g, as "
                            "bursts of some ms are not slowed; on the target they take longer", reached, wanted);
}

static int answer(const struct request *request, struct recorded_run *run)
{
        struct answer_run answer;
        int err, code;

        if (request->output) {
                err = run_save(run, request->output, &program_log);
                if (err)
                        return CODE_FAILED;
        }
        err = answer_run_make(run, request->battery_mwh, &program_log, &answer);
        if (err)
                return CODE_FAILED;
        warn_of_factor(&answer);
        code = answer_run_say(&answer, request->html, &request->options, request->app);
        answer_run_clear(&answer);
        return code != CODE_OK ? code : check_status(run, request->limit_s > 0);
}

static void warn_of(const struct request *request, const struct answer_run *answer)
{
        if (!answer->condition.factor.known)
                log_warning(&program_log, "the profile of %s has no results of joulecast bench, so the app "
                            "runs as fast as here; --cpu-factor N makes it N times slower", answer->target.name);
        if (answer->condition.factor.value < 1)
                log_warning(&program_log, "%s is faster than this machine's CPU, which cannot be emulated: "
                            "what the app computes takes longer here", answer->target.name);
        if (!answer->target.has_radio && net_of(request->net) != BOX_NONE)
                log_warning(&program_log, "no radio is known for this target and network, so packets cost nothing");
}

/* Fails if the network is faster than this machine's own link, as that cannot be emulated. */
static int check_link(const struct request *request, const struct network *network)
{
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        double wanted = fmax(network->way[RADIO_RX].kbps, network->way[RADIO_TX].kbps), kbps;
        char name[IF_NAMESIZE];

        if (net_of(request->net) != BOX_OUTSIDE)
                return 0;
        kbps = host_link_kbps(root_fd, name);
        if (!(wanted > kbps))
                return 0;
        log_error(&program_log, "%s has %g kbit/s, and %s, by which this machine reaches the outside, only "
                  "%g; use a slower network or --net loopback", network->name, wanted, name, kbps);
        return -EOPNOTSUPP;
}

/* Reads the script, so that its errors are printed before anything runs. */
static int check_script(const char *path)
{
        struct script script = { 0 };
        int err = path ? script_file_read(path, &program_log, &script) : 0;

        script_clear(&script);
        return err;
}

static int emulate(const struct request *request)
{
        _cleanup_(run_file_clear) struct recorded_run run = { 0 };
        struct answer_run before;
        int err = check_script(request->input);

        err = err ? err : begin(request, &run);
        /* Without runs: only the target, the network and the factor. */
        if (!err)
                err = answer_run_make(&run, request->battery_mwh, &program_log, &before);
        if (err)
                return CODE_FAILED;
        err = check_link(request, &before.network);
        if (!err) {
                warn_of(request, &before);
                err = run_app(request, &before, &run);
        }
        answer_run_clear(&before);
        return err ? CODE_FAILED : answer(request, &run);
}

static int check(const struct request *request)
{
        if (!request->target)
                log_error(&program_log, "no target is given; use --target nexus-one, or another profile's "
                                        "name or file");
        else if (!request->arguments[0])
                log_error(&program_log, "no app is given; add -- and the app with its arguments");
        else if (request->terminal && !request->input)
                log_error(&program_log, "--terminal goes with --input");
        else if (!request->output || run_check_folder(request->output, &program_log) == 0)
                return CODE_OK;
        return CODE_USAGE;
}

int emulate_main(int argc, char **argv)
{
        const char **words = calloc(ARGUMENTS_MAX + 1, sizeof(*words));
        struct request request = { .brightness_percent = 60,
                                   .battery_mwh = NAN,
                                   .cpu_factor = NAN,
                                   .seed = 1,
                                   .seeds = 1,
                                   .arguments = words };
        const struct option_row rows[] = {
                { "target", "NAME", N_("the device: a profile's name or file"), .text = &request.target },
                { "network", "NAME",
                  N_("the network: 3g-good, 3g-average, 3g-poor, lte, wifi, or a file; without it wifi"),
                  .text = &request.network },
                { "carrier", "NAME", N_("the carrier whose timers the radio has, such as att or sprint"),
                  .text = &request.carrier },
                { "signal", "WHICH", N_("strength of the signal: high, medium or low"), .usual = "high",
                  .text = &request.signal, .words = "high medium low" },
                { "brightness", "N%", N_("brightness of the screen; 0 is off"), .usual = "60",
                  .number = &request.brightness_percent, .high = 100, .unit = "%" },
                { "net", "WHICH",
                  N_("which addresses the app reaches: none, loopback (this machine's 127.0.0.1) or outside (all)"),
                  .usual = "outside", .text = &request.net, .words = "none loopback outside" },
                { "seed", "N", N_("another number gives other delays and losses of the network"), .usual = "1",
                  .count = &request.seed,
                  .high = 1e15 },
                { "seeds", "N", N_("run the app this many times, each time with the next seed, and answer with the "
                                   "mean"),
                  .usual = "1", .count = &request.seeds, .low = 1, .high = PRICE_SEEDS_MAX },
                { "input", "SCRIPT",
                  N_("keys and clicks to play into the app, in an X server of its own (docs/record.md)"),
                  .text = &request.input },
                { "terminal", NULL, N_("with --input: play it in a terminal instead"), .flag = &request.terminal },
                { "screen", NULL, N_("give the app an X server of its own also without --input, and price what it "
                                     "shows"),
                  .flag = &request.screen, .excludes = "terminal" },
                { "cpu-factor", "N",
                  N_("how much slower the target's CPU is, in place of what joulecast bench says"),
                  .number = &request.cpu_factor, .low = 0.01, .high = 1000 },
                { "battery", "MWH", N_("energy of the full battery, in place of the target's"),
                  .number = &request.battery_mwh, .low = 1, .high = 1e7, .unit = "mWh" },
                { "limit", "S", N_("end the app after this time"), .number = &request.limit_s, .low = 0.1,
                  .high = 86400, .unit = "s" },
                { "wait-all", NULL, N_("wait until all processes of the app have ended, not only the first one"),
                  .flag = &request.wait_all },
                { "html", "FILE", N_("write a page with pictures in place of the table; - for standard output"),
                  .text = &request.html, .excludes = "json" },
                ANSWER_RUN_APP(&request.app),
                { "output", "RUN", N_("keep the run in this folder, for joulecast whatif and compare"),
                  .letter = 'o', .text = &request.output },
        };
        const struct option_table command = {
                .called = "joulecast emulate",
                .usage = "joulecast emulate --target NAME [OPTIONS] -- APP [ARGUMENTS]",
                .about = N_("Runs an app here as slowly as it would run on another device, over a network\n"
                         "like that device's, and says what it would have cost there."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
                .words = words,
                .max_words = ARGUMENTS_MAX,
        };
        int code = words ? options_parse(&command, ANSWER_RUN_SHARED, argc, argv, &request.options) : CODE_FAILED;

        if (code < 0)
                code = check(&request);
        else {
                free(words);
                return code;
        }
        if (code == CODE_OK)
                code = emulate(&request);
        free(words);
        return code;
}
