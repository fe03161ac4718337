/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The operating points of a machine tree, as the BPF programs index them. */

#include <errno.h>
#include <fcntl.h>

#include "bpf-opps.h"
#include "check.h"
#include "tree.h"
#include "util.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq/"

static void put(const char *dir, const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

/* related_cpus in both forms, and a policy whose CPUs are all offline. */
static void reads_policies(void)
{
        static const uint8_t wanted[] = { 0, 0, 0, 0, 1, 1, BPF_POLICIES_MAX, 1, BPF_POLICIES_MAX };
        char dir[] = "/tmp/joulecast-opps-XXXXXX";
        struct bpf_opps opps;
        int fd;

        check(mkdtemp(dir) != NULL);
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(bpf_opps_read(fd, &opps), -ENODATA);
        put(dir, CPUFREQ "policy0/stats/time_in_state", "300000 1\n600000 2\n");
        put(dir, CPUFREQ "policy0/related_cpus", "0-3\n");
        put(dir, CPUFREQ "policy0/scaling_cur_freq", "600000\n");
        put(dir, CPUFREQ "policy4/scaling_available_frequencies", "2000000 900000 \n");
        put(dir, CPUFREQ "policy4/related_cpus", "4 5 7 4294967295\n");
        put(dir, CPUFREQ "policy8/related_cpus", "8\n");
        check_int(bpf_opps_read(fd, &opps), 0);
        check_int(opps.n_policies, 3);
        check_int(opps.n, 4);
        check_int(opps.khz[opps.range[1].first], 900000);
        check_int(opps.khz[opps.now[0]], 600000);
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                check_int(opps.policy_of_cpu[i], wanted[i]);
        closep(&fd);
        tree_remove(dir);
}

int main(void)
{
        reads_policies();
        return check_result();
}
