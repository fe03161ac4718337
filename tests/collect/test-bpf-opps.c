/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The operating points of a machine tree, as the BPF programs index them. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "model/usage.h"
#include "process/bpf-opps.h"
#include "tree.h"
#include "util/util.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq/"
#define CPUS "sys/devices/system/cpu/"

static char dir[64];
static int root_fd;

static void put(const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

static void begin(void)
{
        snprintf(dir, sizeof(dir), "/tmp/joulecast-opps-XXXXXX");
        check(mkdtemp(dir) != NULL);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
        closep(&root_fd);
        tree_remove(dir);
}

/* related_cpus in both forms, and a policy whose driver lists no frequencies. */
static void reads_policies(void)
{
        static const uint8_t wanted[] = { 0, 0, 0, 0, 1, 1, 2, 1, 2 };
        struct bpf_opps opps;

        begin();
        check_int(bpf_opps_read(root_fd, &opps), -ENODATA);
        put(CPUFREQ "policy0/stats/time_in_state", "300000 1\n600000 2\n");
        put(CPUFREQ "policy0/related_cpus", "0-3\n");
        put(CPUFREQ "policy0/scaling_cur_freq", "600000\n");
        put(CPUFREQ "policy4/scaling_available_frequencies", "2000000 900000 \n");
        put(CPUFREQ "policy4/related_cpus", "4 5 7 4294967295\n");
        put(CPUFREQ "policy8/related_cpus", "8\n");
        put(CPUS "present", "0-5,7-8\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        check_int(opps.n_policies, 3);
        check_int(opps.n, 5);
        check_int(opps.khz[opps.range[1].first], 900000);
        check_int(opps.khz[opps.now[0]], 600000);
        check_int(opps.policy[2], 8);
        check_int(opps.khz[opps.now[2]], KHZ_UNKNOWN);
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                check_int(opps.policy_of_cpu[i], wanted[i]);
        end();
}

/* A policy without a CPU online has no frequency: the others' are kept, and time of its CPUs has a point. */
static void offline_policy(void)
{
        struct bpf_opps opps;

        begin();
        put(CPUFREQ "policy0/stats/time_in_state", "300000 1\n600000 2\n");
        put(CPUFREQ "policy0/related_cpus", "0 1\n");
        put(CPUFREQ "policy2/related_cpus", "");
        put(CPUS "present", "0-3\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        check_int(opps.n_policies, 2);
        check_int(opps.n, 3);
        check_int(opps.policy_of_cpu[3], 1);
        check_int(opps.policy[1], 2);
        put(CPUS "present", "0-1\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        check_int(opps.n_policies, 1);
        put(CPUFREQ "policy0/stats/time_in_state", "600000 2\n");
        check_int(bpf_opps_read(root_fd, &opps), -ENODATA);
        end();
}

/* Fills all places for policies; with a CPU in another one the programs could not count all time. */
static void many_policies(void)
{
        struct bpf_opps opps;

        begin();
        for (uint32_t policy = 0; policy < BPF_POLICIES_MAX; policy++) {
                char path[96], text[16];

                snprintf(path, sizeof(path), CPUFREQ "policy%u/stats/time_in_state", policy);
                put(path, "300000 1\n600000 2\n");
                snprintf(path, sizeof(path), CPUFREQ "policy%u/related_cpus", policy);
                snprintf(text, sizeof(text), "%u\n", policy);
                put(path, text);
        }
        put(CPUS "present", "0-15\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        check_int(opps.n_policies, BPF_POLICIES_MAX);
        put(CPUS "present", "0-16\n");
        check_int(bpf_opps_read(root_fd, &opps), -E2BIG);
        end();
}

/*
 * No policy shows a frequency: there is an unknown point, those of a calibration, and boost. Three policies of a kind
 * are one.
 */
static void hidden_policies(void)
{
        static const uint32_t wanted[] = { KHZ_UNKNOWN, 400000,  700000,  900000,  1200000,
                                           1400000,     1700000, 1900000, 2200000, 4700000 };
        struct sample sample = { 0 };
        struct bpf_opps opps;

        begin();
        check_int(bpf_opps_read_hidden(root_fd, &opps), -ENODATA);
        for (uint32_t cpu = 0; cpu < 4; cpu++) {
                static const char *const files[][2] = { { "cpuinfo_min_freq", "400000\n" },
                                                        { "cpuinfo_max_freq", "4700000\n" },
                                                        { "base_frequency", "2200000\n" } };
                char path[96], text[16];

                for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                        snprintf(path, sizeof(path), CPUFREQ "policy%u/%s", cpu, files[i][0]);
                        put(path, cpu == 3 && i == 1 ? "3000000\n" : files[i][1]);
                }
                snprintf(path, sizeof(path), CPUFREQ "policy%u/related_cpus", cpu);
                snprintf(text, sizeof(text), "%u\n", cpu);
                put(path, text);
        }
        put(CPUS "present", "0-3\n");
        check_int(bpf_opps_read(root_fd, &opps), -ENODATA);
        check_int(bpf_opps_read_hidden(root_fd, &opps), 0);
        check(opps.by_cycles);
        check_int(opps.n_policies, 2);
        check_int(opps.range[0].n, ARRAY_SIZE(wanted));
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                check_int(opps.khz[i], wanted[i]);
        check_int(opps.khz[opps.n - 1], 3000000);
        for (uint32_t cpu = 0; cpu < 4; cpu++) {
                check_int(opps.policy_of_cpu[cpu], cpu / 3);
                *sample_add_core(&sample) = (struct core){ .cpu = cpu, .policy = cpu };
                *sample_add_opp(&sample) = (struct opp){ .policy = cpu, .khz = KHZ_UNKNOWN };
        }
        check_int(bpf_opps_place(&opps, &sample), 0);
        check_int(sample.n_opps, 4 + 9 + 9);
        check_int(sample.cores[2].policy, 0);
        check_int(sample.cores[3].policy, 3);
        check_int(sample.opps[opps.place[9]].khz, 4700000);
        put(CPUFREQ "policy3/scaling_available_frequencies", "400000 3000000\n");
        check_int(bpf_opps_read_hidden(root_fd, &opps), -ENODATA);
        sample_clear(&sample);
        end();
}

/* A measured frequency differs a little from the one that was set, which is not a change of it. */
static void nearest_frequency(void)
{
        static const struct {
                const char *text;
                uint32_t khz;
        } cases[] = {
                { "1026000\n", 1026000 }, { "1026100\n", 1026000 }, { "1025900\n", 1026000 },
                { "100\n", 384000 },      { "384100\n", 384000 },   { "1300000\n", 1512000 },
                { "1600000\n", 1512000 }, { "<unknown>\n", 384000 },
        };
        struct bpf_opps opps;

        begin();
        put(CPUFREQ "policy0/stats/time_in_state", "1512000 1\n384000 1\n1026000 2\n");
        put(CPUFREQ "policy0/related_cpus", "0 1\n");
        put(CPUS "present", "0-1\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                put(CPUFREQ "policy0/scaling_cur_freq", cases[i].text);
                bpf_opps_look(root_fd, &opps);
                check_int(opps.khz[opps.now[0]], cases[i].khz);
        }
        end();
}

static void add(struct sample *sample, uint32_t policy, uint32_t khz)
{
        struct opp *opp = sample_add_opp(sample);

        opp->policy = policy;
        opp->khz = khz;
        opp->time_ns = 7;
}

/* Each point has a place in the sample, whatever the sample lists: a kernel may have no time_in_state. */
static void places_all(void)
{
        static const struct {
                uint32_t policy, khz;
        } wanted[] = { { 0, KHZ_UNKNOWN }, { 0, 300000 }, { 0, 600000 }, { 2, KHZ_UNKNOWN },
                       { 2, 900000 },      { 4, 900000 }, { 4, 2000000 } };
        static const size_t places[] = { 1, 2, 5, 6, 3 };
        struct sample sample = { 0 };
        struct bpf_opps opps;

        begin();
        put(CPUFREQ "policy0/scaling_available_frequencies", "300000 600000\n");
        put(CPUFREQ "policy0/related_cpus", "0 1\n");
        put(CPUFREQ "policy4/stats/time_in_state", "900000 1\n2000000 1\n");
        put(CPUFREQ "policy4/related_cpus", "4 5\n");
        put(CPUS "present", "0-5\n");
        check_int(bpf_opps_read(root_fd, &opps), 0);
        add(&sample, 0, KHZ_UNKNOWN);
        add(&sample, 2, 900000); /* it came online */
        add(&sample, 4, 900000);
        add(&sample, 4, 2000000);
        for (int again = 0; again < 2; again++) {
                check_int(bpf_opps_place(&opps, &sample), 0);
                check_int(sample.n_opps, ARRAY_SIZE(wanted));
                for (size_t i = 0; i < sample.n_opps; i++) {
                        check_int(sample.opps[i].policy, wanted[i].policy);
                        check_int(sample.opps[i].khz, wanted[i].khz);
                }
                for (size_t i = 0; i < opps.n; i++)
                        check_int(opps.place[i], places[i]);
        }
        check_int(sample.opps[4].time_ns, 7);
        check_int(sample.opps[3].time_ns, 0);
        sample_clear(&sample);
        end();
}

int main(void)
{
        reads_policies();
        offline_policy();
        many_policies();
        hidden_policies();
        nearest_frequency();
        places_all();
        return check_result();
}
