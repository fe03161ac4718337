/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast doctor`: what this machine offers, what is missing, and why. */

#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "process/bpf/process-records.h"
#include "process/collector.h"
#include "source/disk.h"
#include "source/gpu.h"
#include "source/net.h"
#include "source/proc.h"
#include "util/paths.h"
#include "util/util.h"
#include "util/words.h"

static void doctor_clear(struct findings *findings)
{
        free(findings->batteries);
        free(findings->policies);
        profile_free(findings->model);
        *findings = (struct findings){ 0 };
}

int doctor_saw(struct findings *findings, int err)
{
        if (err == -ENOMEM)
                findings->no_memory = true;
        return err;
}

void doctor_miss(struct findings *findings, const char *what, const char *format, ...)
{
        struct missing *missing;
        va_list arguments;

        if (findings->n_missing == ARRAY_SIZE(findings->missing))
                return;
        missing = &findings->missing[findings->n_missing++];
        missing->what = what;
        va_start(arguments, format);
        vsnprintf(missing->why, sizeof(missing->why), _(format), arguments);
        va_end(arguments);
}

static void look_at_batteries(int root_fd, struct findings *findings)
{
        int err = doctor_saw(findings, battery_list(root_fd, &findings->batteries, &findings->n_batteries,
                                                 &findings->n_units));

        if (err < 0)
                doctor_miss(findings, N_("battery"), "sys/class/power_supply cannot be read: %s",
                              strerror(-err));
        else if (findings->n_batteries == 0)
                doctor_miss(findings, N_("battery"), "sys/class/power_supply shows no battery of this machine");
        doctor_check_batteries(findings);
}

/* A calibration adds up all batteries: a current sensor in the one that discharges is enough. */
void doctor_check_batteries(struct findings *findings)
{
        struct battery sum = { 0 };

        if (findings->n_batteries > 0)
                battery_sum(findings->batteries, findings->n_batteries, &sum);
        for (size_t i = 0; i < findings->n_batteries; i++) {
                const struct battery *battery = &findings->batteries[i].battery;

                if (!(battery->have & BATTERY_POWER) && !(sum.have & BATTERY_POWER))
                        doctor_miss(findings, N_("current sensor"),
                                      "%s shows neither power_now nor current_now with voltage_now: no "
                                      "calibration by gauge",
                                      findings->batteries[i].name);
                if (!(battery->have & (BATTERY_CAPACITY | BATTERY_CHARGE_NOW | BATTERY_ENERGY_NOW)))
                        doctor_miss(findings, N_("charge"), "%s shows no capacity, charge_now or energy_now",
                                      findings->batteries[i].name);
                if (!(battery->have & BATTERY_VOLTAGE))
                        doctor_miss(findings, N_("voltage"),
                                      "%s shows no voltage_now: each percent counts as the same energy",
                                      findings->batteries[i].name);
        }
}

#define POLICIES_MAX 256

/* Policies that lack something; they are listed in one line, as laptops have a policy for each CPU. */
struct lacking {
        uint32_t policies[POLICIES_MAX];
        size_t n;
        int err; /* error of the first policy */
};

static void add_lacking(struct lacking *lacking, uint32_t policy, int err)
{
        if (lacking->n == 0)
                lacking->err = err;
        if (lacking->n < POLICIES_MAX)
                lacking->policies[lacking->n++] = policy;
}

static bool has(int root_fd, const struct cpu_policy *policy, const char *name)
{
        char path[96];

        snprintf(path, sizeof(path), "%s/%s", policy->path, name);
        return faccessat(root_fd, path, R_OK, 0) == 0;
}

static void look_at_frequencies(int root_fd, struct findings *findings)
{
        struct lacking list = { .n = 0 }, times = { .n = 0 };
        char policies[128];

        for (size_t i = 0; i < findings->n_policies; i++) {
                const struct cpu_policy *policy = &findings->policies[i];

                if (policy->n_khz == 0)
                        add_lacking(&list, policy->policy, 0);
                if (!has(root_fd, policy, "stats/time_in_state"))
                        add_lacking(&times, policy->policy, errno);
        }
        if (list.n > 0)
                doctor_miss(findings, N_("frequency list"), "the driver of policy %s has none",
                              cpu_print_list(list.policies, list.n, policies, sizeof(policies)));
        if (times.n > 0)
                doctor_miss(findings, N_("time in state"), "policy %s: stats/time_in_state: %s",
                              cpu_print_list(times.policies, times.n, policies, sizeof(policies)),
                              strerror(times.err));
}

static void look_at_cpus(int root_fd, struct findings *findings)
{
        int err = doctor_saw(findings, cpu_list(root_fd, &findings->policies, &findings->n_policies));

        if (err < 0)
                doctor_miss(findings, N_("cpufreq"), "sys/devices/system/cpu cannot be read: %s",
                              strerror(-err));
        else if (findings->n_policies == 0)
                doctor_miss(findings, N_("cpufreq"),
                              "the kernel shows no frequency policies (a virtual machine, or no "
                              "driver): the CPU's cost has the range over all operating points");
        look_at_frequencies(root_fd, findings);
}

/* True if the source opens: then the machine has the files that it reads. */
static bool opens(int root_fd, int (*open_source)(int root_fd, struct source **ret), struct findings *findings)
{
        struct source *source = NULL;

        if (doctor_saw(findings, open_source(root_fd, &source)) < 0 || !source)
                return false;
        source->ops->close(source);
        return true;
}

static void look_at_net(int root_fd, struct findings *findings)
{
        struct source *source = NULL;
        struct sample sample = { 0 };

        findings->has_net = doctor_saw(findings, net_open(root_fd, &source)) == 0;
        if (!findings->has_net) {
                doctor_miss(findings, N_("network"), "proc/net/dev shows no interface");
                return;
        }
        if (doctor_saw(findings, source->ops->read(source, &sample)) == 0)
                findings->signal = sample.signal;
        if (sample.wifi_on && !(sample.signal.have & SIGNAL_WIFI))
                doctor_miss(findings, N_("WiFi signal"), "neither nl80211 nor proc/net/wireless tells how "
                                                         "strong it is");
        source->ops->close(source);
        sample_clear(&sample);
}

static void look_at_rest(int root_fd, struct findings *findings)
{
        doctor_look_at_display(root_fd, findings);
        findings->has_disk = opens(root_fd, disk_open, findings);
        if (!findings->has_disk)
                doctor_miss(findings, N_("disk"), "proc/diskstats shows no storage");
        look_at_net(root_fd, findings);
}

static bool has_sockets(int root_fd, struct findings *findings)
{
        struct source *source = NULL;

        if (doctor_saw(findings, net_process_open(root_fd, NULL, &source)) < 0)
                return false;
        source->ops->close(source);
        return true;
}

/* Notes which network bytes are not counted by app without BPF. */
static void miss_network(bool sockets, struct findings *findings)
{
        if (sockets)
                doctor_miss(findings, N_("all network bytes by app"),
                              "without BPF, only those of TCP connections that exist at a poll; the rest is base");
        else
                doctor_miss(findings, N_("network bytes by app"),
                              "no collector counts them here: the bytes of WiFi interfaces are base");
}

/*
 * Does a collector open here? Each is tried in a process of its own, and all at once: the kernel takes 0.1
 * s and more to check the programs of each that uses BPF.
 */

struct trial {
        const struct collector *collector;
        pid_t pid;
        int fd; /* its answer comes there; -1: it was not begun */
};

struct trial_result {
        int err;         /* 0: it opens; -errno */
        uint32_t counts; /* as of struct source */
        uint32_t net_by;
};

/* The child's exit closes what the collector opened. */
static void try(const struct collector *collector, const struct collector_options *how, int fd)
{
        struct source *source = NULL;
        struct trial_result result = { .err = collector->open(how, &source) };

        if (!result.err) {
                result.counts = source->counts;
                result.net_by = source->net_by;
        }
        _exit(write(fd, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

static void trial_begin(const struct collector *collector, const struct collector_options *how, struct trial *ret)
{
        int fds[2];

        *ret = (struct trial){ collector, -1, -1 };
        if (pipe2(fds, O_CLOEXEC) < 0)
                return;
        ret->pid = fork();
        if (ret->pid == 0)
                try(collector, how, fds[1]);
        close(fds[1]);
        if (ret->pid > 0)
                ret->fd = fds[0];
        else
                close(fds[0]);
}

/* Waits for it. */
static struct trial_result trial_end(struct trial *trial)
{
        struct trial_result result;
        ssize_t n;

        if (trial->fd < 0)
                return (struct trial_result){ .err = -EAGAIN };
        do
                n = read(trial->fd, &result, sizeof(result));
        while (n < 0 && errno == EINTR);
        close(trial->fd);
        while (waitpid(trial->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        return n == (ssize_t)sizeof(result) ? result : (struct trial_result){ .err = -EIO };
}

/* The service adds network bytes by socket where the collector counts none. */
static void add_collector(const struct collector *collector, const struct trial_result *result, bool sockets,
                          struct findings *findings)
{
        bool by_sockets = sockets && !(result->counts & COUNTS_NET);

        findings->counts[findings->n_collectors] = result->counts | (by_sockets ? COUNTS_NET : 0);
        findings->net_by[findings->n_collectors] = by_sockets ? NET_BY_SOCKETS : result->net_by;
        findings->collectors[findings->n_collectors++] = collector;
}

/* Where the kernel does not count CPU time by frequency: says how it is estimated, or why it is unknown. */
static void miss_cpu_by_frequency(int root_fd, struct findings *findings)
{
        static const char *const what = N_("CPU time by frequency");
        const char *shared = _("estimated from the time that each policy spent at its frequencies");
        size_t n_khz = 0, most_khz = 0;
        bool times = false, now = false;

        for (size_t i = 0; i < findings->n_policies; i++) {
                n_khz += findings->policies[i].n_khz;
                most_khz = MAX(most_khz, findings->policies[i].n_khz);
                times = times || has(root_fd, &findings->policies[i], "stats/time_in_state");
                now = now || has(root_fd, &findings->policies[i], "scaling_cur_freq");
        }
        if (findings->n_policies == 0)
                doctor_miss(findings, what, "the kernel shows no frequency");
        else if (!times)
                doctor_miss(findings, what,
                            now ? N_("unknown: no policy has stats/time_in_state, and no collector here counts cycles; "
                                     "scaling_cur_freq tells it of a moment, enough for a calibration alone")
                                : N_("unknown: no policy has stats/time_in_state, and no collector here "
                                     "counts cycles"));
        else if (most_khz < 2)
                doctor_miss(findings, what, "there is one frequency");
        else if (n_khz > BPF_OPPS_MAX || findings->n_policies > BPF_POLICIES_MAX)
                doctor_miss(findings, what, "%s: BPF counts at most %d frequencies of %d policies", shared,
                              BPF_OPPS_MAX, BPF_POLICIES_MAX);
        else
                doctor_miss(findings, what, "%s", shared);
}

static void look_at_gpu(int root_fd, struct findings *findings)
{
        char why[512];

        if (!opens(root_fd, gpu_open, findings))
                doctor_miss(findings, N_("GPU by app"), "sys/class/drm shows no render node");
        else if (doctor_saw(findings, gpu_explain(root_fd, why, sizeof(why))) == 0 && why[0])
                doctor_miss(findings, N_("GPU by app"), "%s", why);
}

/* libbpf has one error for anything that is missing, so this looks for the cause. */
static const char *why_not(int root_fd, const char *collector, int err)
{
        bool bpf = strncmp(collector, "bpf", 3) == 0;

        if (bpf && err != -EPERM && err != -EACCES && faccessat(root_fd, "sys/kernel/btf/vmlinux", R_OK, 0) < 0)
                return _("this kernel describes no types in /sys/kernel/btf (CONFIG_DEBUG_INFO_BTF)");
        return strerror(-err);
}

/* joulecastd uses the first collector that opens; whatever that one does not count is missing. */
static void look_at_collectors(int root_fd, const struct options *options, struct findings *findings)
{
        const struct collector_options how = { .root_fd = root_fd, .log = &program_log,
                                               .no_counters = !findings->counters.allowed };
        const struct collector *collector = options->machine ? plain_collectors : all_collectors;
        bool sockets = has_sockets(root_fd, findings);
        struct trial trials[ARRAY_SIZE(findings->collectors)];
        size_t n = 0;
        uint32_t counts = 0;

        for (; collector->name && n < ARRAY_SIZE(trials); collector++)
                trial_begin(collector, &how, &trials[n++]);
        for (size_t i = 0; i < n; i++) {
                struct trial_result result = trial_end(&trials[i]);

                if (doctor_saw(findings, result.err)) {
                        doctor_miss(findings, trials[i].collector->name, "%s: %s", _(trials[i].collector->what),
                                    why_not(root_fd, trials[i].collector->name, result.err));
                        continue;
                }
                if (findings->n_collectors == 0)
                        counts = result.counts;
                add_collector(trials[i].collector, &result, sockets, findings);
        }
        if (!(counts & COUNTS_NET))
                miss_network(sockets, findings);
        if (!(counts & COUNTS_BURSTS))
                doctor_miss(findings, N_("bursts of packets"),
                            "radios are priced by bytes, not by how long packets keep them up: that needs BPF, "
                            "Linux 5.15, control groups v2 and CAP_NET_ADMIN");
        if (!(counts & COUNTS_EXITS))
                doctor_miss(findings, N_("short processes"),
                              "what begins and ends between two polls is attributed to no app");
        if (!(counts & COUNTS_OPPS))
                miss_cpu_by_frequency(root_fd, findings);
        doctor_miss_counters(root_fd, counts, findings);
        look_at_gpu(root_fd, findings);
}

static int look_at_files(const struct options *options, struct findings *findings)
{
        _cleanup_free_ char *usage = NULL;

        if (!options->database && doctor_saw(findings, paths_usage(options->device, false, &usage)) < 0)
                usage = NULL;
        snprintf(findings->database, sizeof(findings->database), "%s",
                 options->database ? options->database : usage ? usage : "");
        if (doctor_look_at_profile(options, findings) < 0)
                return CODE_FAILED;
        if (access(findings->database, R_OK) < 0)
                doctor_miss(findings, N_("usage"), "%.150s: %s; start the service, or run joulecast poll",
                              findings->database, strerror(errno));
        else
                doctor_look_at_recorded(findings);
        return CODE_OK;
}

static int look_at_machine(const struct options *options, struct findings *findings)
{
        const char *root = options->machine ? options->machine : "/";
        _cleanup_close_ int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (root_fd < 0) {
                log_error(&program_log, "--machine %s: %s", root, strerror(errno));
                return CODE_FAILED;
        }
        look_at_batteries(root_fd, findings);
        look_at_cpus(root_fd, findings);
        look_at_rest(root_fd, findings);
        doctor_look_at_counters(root_fd, options, findings);
        look_at_collectors(root_fd, options, findings);
        if (!options->machine && geteuid() != 0)
                doctor_miss(findings, N_("other users' disk bytes"),
                              "only root can read /proc/PID/io of other users");
        if (proc_hides(root_fd))
                doctor_miss(findings, N_("other users' processes"), PROC_HIDES);
        return look_at_files(options, findings);
}

int doctor_main(int argc, char **argv)
{
        _cleanup_(doctor_clear) struct findings findings = { 0 };
        const struct option_row rows[] = {
                { "overhead", .help = N_("also show what the running service itself costs"),
                  .flag = &findings.with_overhead },
        };
        const struct option_table command = {
                .called = "joulecast doctor",
                .usage = "joulecast doctor [--overhead]",
                .about = N_("What this machine offers: batteries with their gauges' quirks, CPU frequencies,\n"
                         "the screen, storage, network and collectors; and why something is missing."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        struct options options = { 0 };
        int code;

        code = options_parse(&command, SHARED_ASK, argc, argv, &options);
        if (code >= 0)
                return code;
        code = options.device ? doctor_look_at_virtual(&options, &findings) : look_at_machine(&options, &findings);
        if (code == CODE_OK && findings.with_overhead)
                code = overhead_look(&options, &findings);
        if (code == CODE_OK && findings.no_memory)
                code = CODE_FAILED;
        if (code != CODE_OK)
                return code;
        if (options.json)
                return doctor_json(&findings);
        if (!options.device)
                doctor_print_verdict(&findings);
        code = doctor_table(&findings);
        if (!options.device)
                doctor_print_next(&findings);
        return code;
}
