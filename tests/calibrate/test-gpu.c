/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The GPU of a calibration: its requests to joulecast-gpu, and its use of the replies. A script plays joulecast-gpu. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "check.h"
#include "hardware/gpu-part.h"
#include "tree.h"

struct desk {
        char dir[64], program[96], said[1024];
        struct log log;
        int root_fd;
        char *arguments[2];
        struct part *part;
};

static const char program_counted[] = "#!/bin/sh\n"
                                      "cd \"$(dirname \"$0\")\" || exit 1\n"
                                      "echo $$ > pid\n"
                                      "echo gpu counted Mali-T860 \"(Panfrost)\"\n"
                                      "while read -r line; do echo \"$line\" >> lines; echo \"$line\"; done\n"
                                      "echo ended >> lines\n";
static const char program_uncounted[] = "#!/bin/sh\necho 'gpu uncounted Some GPU'\nread -r line\n";
static const char program_none[] = "#!/bin/sh\nexit 1\n";
static const char program_refusing[] = "#!/bin/sh\necho gpu counted Some\nwhile read -r line; do echo failed "
                                       "why; done\n";

static void keep(void *data, enum log_level level, const char *sentence)
{
        snprintf(((struct desk *)data)->said, sizeof(((struct desk *)data)->said), "%s", sentence);
}

static int make(struct desk *desk, bool node, const char *program)
{
        const struct machine_hardware machine = { .log = &desk->log };

        *desk = (struct desk){ .log = { .handler = keep, .data = desk }, .dir = "/tmp/joulecast-gpu-XXXXXX" };
        check(mkdtemp(desk->dir) != NULL);
        desk->root_fd = open(desk->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (node)
                check(tree_write(desk->dir, "dev/dri/renderD128", "", 0));
        check(tree_write(desk->dir, "program", program, strlen(program)));
        snprintf(desk->program, sizeof(desk->program), "%s/program", desk->dir);
        check_int(chmod(desk->program, 0755), 0);
        desk->arguments[0] = desk->program;
        return gpu_part_open(desk->root_fd, desk->arguments, &machine, &desk->part);
}

static void end(struct desk *desk)
{
        if (desk->part)
                desk->part->ops->close(desk->part);
        close(desk->root_fd);
        tree_remove(desk->dir);
}

static const char *get(const struct desk *desk, const char *path)
{
        static char text[256];

        check(util_read_at(desk->root_fd, path, text, sizeof(text)) >= 0);
        return text;
}

static int load(struct desk *desk, double share)
{
        const struct mode mode = { .gpu = share };

        return desk->part->ops->apply(desk->part, &mode);
}

static int look_again(struct desk *desk)
{
        return (desk->part->ops->check)(desk->part); /* in brackets: not the macro of that name */
}

static void test_load(void)
{
        struct desk desk;
        struct hardware_description description = { 0 };

        check_int(make(&desk, true, program_counted), 0);
        check_text(get(&desk, "lines"), "ended\n"); /* to look is not to load */
        check_int(desk.part->ops->describe(desk.part, &description), 0);
        check(description.gpu);
        check_int(load(&desk, 0), 0);
        check_text(get(&desk, "lines"), "ended\n");
        check_int(load(&desk, 1), 0);
        check_int(look_again(&desk), 0);
        check_int(load(&desk, 0.4), 0);
        check_text(get(&desk, "lines"), "ended\nload 1\nload 0.4\n");
        check_int(load(&desk, 0), 0);
        check_text(get(&desk, "lines"), "ended\nload 1\nload 0.4\nended\n");
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        end(&desk);
}

static void test_crash(void)
{
        struct desk desk;

        check_int(make(&desk, true, program_counted), 0);
        check_int(load(&desk, 1), 0);
        check_int(kill(atoi(get(&desk, "pid")), SIGKILL), 0);
        for (unsigned i = 0; i < 200 && look_again(&desk) == 0; i++)
                usleep(10000);
        check(look_again(&desk) < 0);
        check(strstr(desk.said, "ended unexpectedly") != NULL);
        check(load(&desk, 1) < 0); /* into a pipe without a reader */
        check_int(load(&desk, 1), 0); /* a new one */
        end(&desk);
}

static void test_none(void)
{
        struct desk desk;

        check_int(make(&desk, false, program_counted), -ENODEV);
        end(&desk);
        check_int(make(&desk, true, program_none), -ENODEV);
        check_text(desk.said, "");
        end(&desk);
        check_int(make(&desk, true, program_uncounted), -ENODEV);
        check(strstr(desk.said, "Some GPU") && strstr(desk.said, "does not count"));
        end(&desk);
        check_int(make(&desk, true, program_refusing), 0);
        check(load(&desk, 1) < 0);
        check(strstr(desk.said, "does not load the GPU") != NULL);
        end(&desk);
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN); /* like a calibration */
        test_load();
        test_crash();
        test_none();
        return check_result();
}
