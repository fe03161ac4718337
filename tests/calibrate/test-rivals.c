/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Services that change clocks: those that make a calibration refuse, and those that it watches. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "hold/rivals.h"
#include "tree.h"

static char said[512];

static void keep(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

static void look(const char *unit, const char *comm, const char *refused, const char *watched)
{
        static const struct log log = { .handler = keep };
        char dir[] = "/tmp/joulecast-rivals-XXXXXX", path[128];
        const char *name, *command = "";
        int root_fd;

        check(mkdtemp(dir) != NULL);
        snprintf(path, sizeof(path), "run/systemd/units/invocation:%s.service", unit);
        check(!*unit || tree_link(dir, path, "0123"));
        check(!*comm || tree_write(dir, "proc/700/comm", comm, strlen(comm)));
        check(tree_write(dir, "proc/1/comm", "systemd\n", 8));
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        said[0] = '\0';
        check_int(rivals_refuse(root_fd, &log), refused ? -EBUSY : 0);
        if (refused)
                check(strstr(said, refused) && strstr(said, "stop it with `systemctl "));
        else
                check_text(said, "");
        name = rivals_watched(root_fd, &command);
        check_text(name ? name : "none", watched ? watched : "none");
        check_int(name && strstr(command, "systemctl"), watched != NULL);
        close(root_fd);
        tree_remove(dir);
}

int main(void)
{
        look("tlp", "", "tlp", NULL);
        look("tccd", "", "tccd", NULL);
        look("", "tccd\n", "tccd", NULL);
        look("laptop-mode", "", "laptop-mode", NULL);
        look("", "power-profiles-\n", "power-profiles-daemon", NULL);
        look("snap.auto-cpufreq.service", "python3\n", "auto-cpufreq", NULL);
        look("com.system76.PowerDaemon", "", "system76-power", NULL);
        look("asusd", "asusd\n", NULL, "asusd");
        look("hhd@deck", "", NULL, "hhd");
        look("", "gamemoded\n", NULL, "gamemoded");
        look("steamos-manager", "tuned\n", "tuned", "steamos-manager");
        look("thermald", "thermald\n", NULL, NULL);
        look("", "tlp-stat-helper\n", NULL, NULL);
        look("", "", NULL, NULL);
        return check_result();
}
