/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* GPU time of processes on trees: what a driver shows, what it does not, and whose it is. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "source/gpu.h"
#include "tree.h"

static const struct {
        const char *text;
        bool counts;
        const char *device;
        uint64_t busy_ns;
} texts[] = {
        { "drm-driver:\ti915\ndrm-client-id:\t5\ndrm-pdev:\t0000:00:02.0\ndrm-engine-render:\t500 ns\n", true,
          "0000:00:02.0", 500 },
        { "drm-driver:\ti915\r\ndrm-client-id:\t5\r\ndrm-pdev:\t0000:00:02.0\r\ndrm-engine-render:\t500 ns\r\n",
          true, "0000:00:02.0", 500 },
        { "drm-driver: \tx\ndrm-client-id: 5\ndrm-engine-render:   500 \t ns\n", true, "", 500 },
        { "drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-memory-vram:\t2068 KiB\n", false, "", 0 },
        { "drm-driver:\tnouveau\ndrm-client-id:\t5\ndrm-engine-capacity-gr:\t1\n", false, "", 0 },
        { "drm-client-id:\t5\ndrm-engine-render:\t-1 ns\n", false, "", 0 },
        { "drm-client-id:\tx\ndrm-engine-render:\t1 ns\n", false, "", 0 },
        { "drm-client-id:\t5\ndrm-engine-render:\t1 ms\n", false, "", 0 },
        { "drm-driver:\t\ndrm-client-id:\t5\ndrm-engine-render:\t1 ns\n", true, "", 1 },
        { "", false, "", 0 },
};

static void parse(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct gpu_client client = { .client = 0 };

                check_int(gpu_parse_fdinfo(texts[i].text, &client), texts[i].counts);
                check_text(client.device, texts[i].device);
                check_int(client.busy_ns, texts[i].busy_ns);
        }
}

struct gpus {
        char dir[64];
        int root_fd;
        struct source *source;
        struct process processes[4];
        struct sample sample;
};

static void make(struct gpus *gpus)
{
        *gpus = (struct gpus){ .dir = "/tmp/joulecast-gpus-XXXXXX" };
        check(mkdtemp(gpus->dir) != NULL);
        check(tree_write(gpus->dir, "sys/class/drm/renderD128/dev", "226:128\n", 8));
        check(tree_write(gpus->dir, "proc/1/comm", "init\n", 5));
        gpus->root_fd = open(gpus->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(gpu_open(gpus->root_fd, &gpus->source), 0);
        gpus->sample = (struct sample){ .have = SAMPLE_PROCESSES, .processes = gpus->processes };
}

static void add(struct gpus *gpus, pid_t pid, uint64_t start_time)
{
        gpus->processes[gpus->sample.n_processes++] =
                (struct process){ .pid = pid, .uid = 1000, .start_time = start_time };
}

static void holds(struct gpus *gpus, pid_t pid, int fd, const char *node, const char *text)
{
        char path[128];

        snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", (int)pid, fd);
        check(tree_write(gpus->dir, path, text, strlen(text)));
        snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", gpus->dir, (int)pid, fd);
        unlink(path);
        snprintf(path, sizeof(path), "proc/%d/fd/%d", (int)pid, fd);
        check(tree_link(gpus->dir, path, node));
}

static void poll(struct gpus *gpus)
{
        gpus->sample.monotonic_ns += 1000000000;
        gpus->sample.have = SAMPLE_PROCESSES;
        for (size_t i = 0; i < gpus->sample.n_processes; i++)
                gpus->processes[i].have = 0;
        check_int(gpus->source->ops->read(gpus->source, &gpus->sample), 0);
}

static bool known(const struct gpus *gpus, size_t i)
{
        return gpus->processes[i].have & USAGE_GPU;
}

static void check_why(const struct gpus *gpus, const char *part)
{
        char why[512];

        check_int(gpu_explain(gpus->root_fd, why, sizeof(why)), 0);
        check_int(why[0] != '\0', part != NULL);
        check(!part || strstr(why, part));
}

static void end(struct gpus *gpus)
{
        gpus->source->ops->close(gpus->source);
        close(gpus->root_fd);
        tree_remove(gpus->dir);
}

#define RENDER "/dev/dri/renderD128"
#define V3D(ms) "drm-driver:\tv3d\ndrm-client-id:\t4\ndrm-engine-render:\t" #ms "000000 ns\n"

/* The lower pid is the younger process, and is found first. */
static void test_owner(void)
{
        struct gpus gpus;
        uint64_t before;

        make(&gpus);
        add(&gpus, 90, 5000);
        add(&gpus, 120, 100);
        for (int pid = 90; pid <= 120; pid += 30)
                holds(&gpus, pid, 3, RENDER, V3D(10));
        poll(&gpus);
        before = gpus.processes[0].gpu_busy_ns;
        check_int(before + gpus.processes[1].gpu_busy_ns, 10000000);
        for (int pid = 90; pid <= 120; pid += 30)
                holds(&gpus, pid, 3, RENDER, V3D(40));
        poll(&gpus);
        check_int(gpus.processes[0].gpu_busy_ns, before);
        check_int(gpus.processes[1].gpu_busy_ns + before, 40000000);
        end(&gpus);
}

static void test_without_times(void)
{
        struct gpus gpus;

        make(&gpus);
        add(&gpus, 10, 1);
        add(&gpus, 20, 2);
        add(&gpus, 30, 3);
        check_why(&gpus, NULL);
        holds(&gpus, 10, 3, RENDER, "drm-driver:\tnouveau\ndrm-client-id:\t9\n");
        holds(&gpus, 20, 3, "/dev/nvidia0", "pos:\t0\n");
        holds(&gpus, 30, 3, "/dev/dri/card0", "drm-driver:\tmsm_dpu\ndrm-client-id:\t3\n"); /* shows pictures only */
        poll(&gpus);
        check(!known(&gpus, 0) && !known(&gpus, 1) && known(&gpus, 2));
        check(!(gpus.sample.have & USAGE_GPU));
        check_why(&gpus, "engines");
        end(&gpus);
}

/* amdgpu lists an engine only after a client has used it: if one client lists engines, clients without are idle. */
static void test_idle(void)
{
        struct gpus gpus;

        make(&gpus);
        add(&gpus, 10, 1);
        add(&gpus, 20, 2);
        holds(&gpus, 10, 3, RENDER, "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t9\n");
        poll(&gpus);
        check(!known(&gpus, 0) && known(&gpus, 1));
        holds(&gpus, 20, 3, RENDER, "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t8\n"
                                    "drm-engine-gfx:\t5 ns\n");
        for (size_t i = 0; i < 12; i++) {
                gpus.processes[1].cpu_ns++;
                poll(&gpus);
        }
        check(known(&gpus, 0) && known(&gpus, 1) && gpus.sample.have & USAGE_GPU);
        check_int(gpus.processes[0].gpu_busy_ns, 0);
        check_why(&gpus, NULL);
        end(&gpus);
}

static void test_profiling(void)
{
        static const char profiling[] = "sys/class/drm/renderD128/device/profiling";
        struct gpus gpus;

        make(&gpus);
        add(&gpus, 10, 1);
        check(tree_link(gpus.dir, "sys/class/drm/renderD128/device/driver", "../../../bus/platform/drivers/panthor"));
        check(tree_write(gpus.dir, profiling, "1\n", 2)); /* cycles alone */
        holds(&gpus, 10, 3, RENDER, "drm-driver:\tpanthor\ndrm-client-id:\t9\ndrm-engine-panthor:\t0 ns\n");
        poll(&gpus);
        check(!known(&gpus, 0) && !(gpus.sample.have & USAGE_GPU));
        check_why(&gpus, "`echo 3 > /sys/class/drm/renderD128/device/profiling`");
        check(tree_write(gpus.dir, profiling, "3\n", 2));
        poll(&gpus);
        check(known(&gpus, 0));
        check_why(&gpus, NULL);
        end(&gpus);
}

/* One client number of two GPUs without addresses. */
static void test_two_drivers(void)
{
        struct gpus gpus;

        make(&gpus);
        add(&gpus, 10, 1);
        holds(&gpus, 10, 3, RENDER, V3D(1));
        holds(&gpus, 10, 4, "/dev/dri/renderD129", "drm-driver:\tlima\ndrm-client-id:\t4\n"
                                                   "drm-engine-pp:\t2000000 ns\n");
        poll(&gpus);
        check_int(gpus.processes[0].gpu_busy_ns, 3000000);
        end(&gpus);
}

int main(void)
{
        parse();
        test_owner();
        test_without_times();
        test_idle();
        test_profiling();
        test_two_drivers();
        return check_result();
}
