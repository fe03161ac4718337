/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Idle states that a calibration reads from a machine's cpuidle folders. */

#include <fcntl.h>

#include "check.h"
#include "hardware/describe.h"
#include "tree.h"

#define CPU "sys/devices/system/cpu/"

struct file {
        const char *path, *text;
};

static enum idle_states read_tree(const struct file *files, size_t n)
{
        struct hardware_description description = { 0 };
        char dir[64] = "/tmp/joulecast-tree-XXXXXX";
        _cleanup_close_ int root_fd = -1;

        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < n; i++)
                check(tree_write(dir, files[i].path, files[i].text, strlen(files[i].text)));
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        describe_idle_states(root_fd, &description);
        tree_remove(dir);
        return description.idle_states;
}

#define READ(...) read_tree((const struct file[]){ __VA_ARGS__ }, ARRAY_SIZE(((const struct file[]){ __VA_ARGS__ })))

int main(void)
{
        check_int(READ({ CPU "online", "0-3\n" }), IDLE_STATES_UNKNOWN);
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "1\n" }), IDLE_STATES_SHALLOW);
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "1\n" },
                       { CPU "cpu0/cpuidle/state1/residency", "1500\n" }), IDLE_STATES_DEEP);
        /* deep states of the big cores alone */
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "1\n" },
                       { CPU "cpu4/cpuidle/state0/residency", "2500\n" }), IDLE_STATES_DEEP);
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "1\n" },
                       { CPU "cpu0/cpuidle/state1/residency", "1500\n" },
                       { CPU "cpu0/cpuidle/state1/disable", "1\n" }), IDLE_STATES_SHALLOW);
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "" }), IDLE_STATES_UNKNOWN);
        check_int(READ({ CPU "cpu0/cpuidle/state0/residency", "many\n" }), IDLE_STATES_UNKNOWN);
        check_int(READ({ CPU "cpufreq/cpuidle/state0/residency", "1\n" }), IDLE_STATES_UNKNOWN);
        return check_result();
}
