/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts of /proc, and a machine with ten thousand processes, some of which are half gone. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "machine/machine.h"
#include "source/cpu.h"
#include "source/disk.h"
#include "source/net.h"
#include "source/proc.h"
#include "tree.h"
#include "util/util.h"

#define REST " 1 1 1 0 -1 4194560 9 9 9 9 "
#define TAIL " 4 5 20 0 1 0 777 1000 2"

static void stat_texts(void)
{
        static const struct {
                const char *text;
                bool good;
                const char *comm;
                uint64_t cpu_ticks;
        } cases[] = {
                { "7 (sh) S" REST "11 22" TAIL, true, "sh", 33 },
                { "7 (a) R 1 (b) S" REST "11 22" TAIL, true, "a) R 1 (b", 33 },
                { "7 () Z" REST "0 0" TAIL, true, "", 0 },
                { "7 (a b\nc) S" REST "1 1" TAIL "\n", true, "a b\nc", 2 },
                { "7 (sh) S" REST "99999999999999999999999 1" TAIL, false, "", 0 },
                { "7 (sh) S" REST "18446744073709551615 1" TAIL, false, "", 0 },
                { "7 (sh) S" REST "-1 1" TAIL, false, "", 0 },
                { "7 (sh) S 1 1 1", false, "", 0 },
                { "7 (sh", false, "", 0 },
                { "7 )(", false, "", 0 },
                { ")", false, "", 0 },
                { "", false, "", 0 },
        };
        struct proc_stat stat;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(proc_parse_stat(cases[i].text, strlen(cases[i].text), &stat), cases[i].good);
                if (!cases[i].good)
                        continue;
                check_text(stat.comm, cases[i].comm);
                check_int(stat.cpu_ticks, cases[i].cpu_ticks);
                check_int(stat.reaped_ticks, 9);
                check_int(stat.start_time, 777);
                check(!stat.kernel_thread);
        }
        for (size_t n = 0; n < strlen(cases[0].text); n++) /* cut off anywhere: no read beyond, and no nonsense */
                check(!proc_parse_stat(cases[0].text, n, &stat) || stat.start_time == 777);
}

static void io_texts(void)
{
        struct proc_io io = { 0 };

        check(proc_parse_io("rchar: 1\nread_bytes: 10\nwrite_bytes: 20\ncancelled_write_bytes: 5\n", &io));
        check_int(io.read_bytes, 10);
        check_int(io.write_bytes, 15);
        check(proc_parse_io("read_bytes: 10\nwrite_bytes: 20\n", &io));
        check_int(io.write_bytes, 20);
        check(!proc_parse_io("cancelled_write_bytes: 5\n", &io));
        check(!proc_parse_io("read_bytes: \nwrite_bytes: 3\n", &io));
        check(!proc_parse_io("", &io));
}

/* A user in a thousand groups. */
static void uids(void)
{
        char dir[] = "/tmp/joulecast-uid-XXXXXX", text[16384];
        int length = snprintf(text, sizeof(text), "Name:\tx\\nUid:\t7\nUmask:\t0022\nUid:\t1000\t0\t0\t0\n"
                                                  "Groups:\t"), fd;
        uid_t uid = 0;

        for (unsigned i = 0; i < 1000; i++)
                length += snprintf(text + length, sizeof(text) - (size_t)length, "%u ", 2000000000 + i);
        check(mkdtemp(dir) && tree_write(dir, "9/status", text, (size_t)length) &&
              tree_write(dir, "8/status", "", 0));
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(proc_read_uid(fd, 9, &uid), 0);
        check_int(uid, 1000);
        check_int(proc_read_uid(fd, 8, &uid), -EBADMSG);
        check_int(proc_read_uid(fd, 7, &uid), -ENOENT);
        closep(&fd);
        tree_remove(dir);
}

static void cpu_texts(void)
{
        struct cpu_time_in_state points[4];
        uint32_t list[8], cpu;
        uint64_t ticks, idle_ticks;

        check_int(cpu_parse_time_in_state("1000 5\n500 7\n1000 2\nx\n600\n", points, 4), 2);
        check_int(points[0].khz, 500);
        check_int(points[1].ticks, 7);
        check_int(cpu_parse_time_in_state("1 1\n2 2\n3 3\n4 4\n5 5\n", points, 4), 4);
        check_int(cpu_parse_list("0-3,5\n", list, 8), 5);
        check_int(list[4], 5);
        check_int(cpu_parse_list("0 1 2\n", list, 8), 3);
        check_int(cpu_parse_list("0-99999999\n", list, 8), 0);
        check_int(cpu_parse_list("0-100", list, 8), 8);
        check_int(cpu_parse_khz("300 200 100 \n", list, 8), 3);
        check_int(list[0], 100);
        check(cpu_parse_stat_line("cpu3 1 2 4 1000 2000 8 16 32 64 128", &cpu, &ticks, &idle_ticks));
        check_int(cpu, 3);
        check_int(ticks, 31);
        check_int(idle_ticks, 3000);
        check(!cpu_parse_stat_line("cpu  1 2 3 4", &cpu, &ticks, &idle_ticks));
        check(!cpu_parse_stat_line("cpu1 99999999999999999999 1 1 1 1 1 1", &cpu, &ticks, &idle_ticks));
        check(!cpu_parse_stat_line("cpufreq", &cpu, &ticks, &idle_ticks));
}

static void disk_and_net_texts(void)
{
        struct disk_line disk;
        struct net_line net;

        check(disk_parse_line(" 259 0 nvme0n1 1 2 3 4 5 6 7 8 9", &disk));
        check_int(disk.read_bytes, 3 * 512);
        check_int(disk.write_bytes, 7 * 512);
        check(disk_parse_line("104 0 cciss/c0d0 1 2 3 4 5 6 7", &disk));
        check_text(disk.name, "cciss!c0d0");
        check(!disk_parse_line("259 0 ../x 1 2 3 4 5 6 7", &disk));
        check(!disk_parse_line("259 0 nvme0n1 1 2", &disk));
        check(net_parse_line(" wlan0:  12 1 0 0 0 0 0 0 34 1 0", &net));
        check_text(net.name, "wlan0");
        check_int(net.tx_bytes, 34);
        check(!net_parse_line(" face |bytes", &net));
        check(!net_parse_line("../..: 1 1 1 1 1 1 1 1 1", &net));
        check(!net_parse_line(" wlan0: 12 1", &net));
}

static void kinds_of_interfaces(void)
{
        static const struct {
                const char *path, *text;
        } files[] = {
                { "lo/type", "772\n" },
                { "enp1s0/device/x", "" },
                { "enp1s0/type", "1\n" },
                { "enp1s0/uevent", "INTERFACE=enp1s0\nIFINDEX=2\n" },
                { "wlp2s0/device/x", "" },
                { "wlp2s0/phy80211/x", "" },
                { "wlp2s0/uevent", "DEVTYPE=wlan\nINTERFACE=wlp2s0\n" },
                { "wwan0/device/x", "" }, /* qmi_wwan, cdc_mbim and drivers/net/wwan */
                { "wwan0/type", "65534\n" },
                { "wwan0/uevent", "DEVTYPE=wwan\nINTERFACE=wwan0\nIFINDEX=4\n" },
                { "rmnet_ipa0/device/x", "" },
                { "rmnet_ipa0/type", "519\n" },
                { "rmnet_data0/type", "519\n" }, /* a channel of that modem, which counts its bytes, too */
                { "rmnet_data0/lower_rmnet_ipa0/x", "" },
                { "qmimux0/lower_wwan0/x", "" },
                { "wlp2s0.7/lower_wlp2s0/x", "" },
                { "bridge0/lower_wlp2s0/x", "" },
                { "bridge0/lower_enp1s0/x", "" },
                { "ppp0/type", "512\n" },
                { "port1/device/x", "" }, /* a switch chip's, behind enp1s0 */
                { "port1/ifindex", "9\n" },
                { "port1/iflink", "2\n" },
                { "port1/lower_enp1s0/x", "" },
        };
        static const struct {
                const char *name;
                enum net_kind kind, of_packets;
        } cases[] = {
                { "lo", NET_VIRTUAL, NET_VIRTUAL },
                { "enp1s0", NET_OTHER, NET_OTHER },
                { "wlp2s0", NET_WIFI, NET_WIFI },
                { "wwan0", NET_CELLULAR, NET_CELLULAR },
                { "rmnet_ipa0", NET_CELLULAR, NET_CELLULAR },
                { "rmnet_data0", NET_VIRTUAL, NET_CELLULAR },
                { "qmimux0", NET_VIRTUAL, NET_CELLULAR },
                { "wlp2s0.7", NET_VIRTUAL, NET_WIFI },
                { "bridge0", NET_VIRTUAL, NET_VIRTUAL },
                { "ppp0", NET_VIRTUAL, NET_VIRTUAL },
                { "port1", NET_VIRTUAL, NET_OTHER },
        };
        char dir[64] = "/tmp/joulecast-net-XXXXXX", path[128];
        int root_fd;

        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                snprintf(path, sizeof(path), "sys/class/net/%s", files[i].path);
                tree_write(dir, path, files[i].text, strlen(files[i].text));
        }
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(net_kind_of(root_fd, cases[i].name), cases[i].kind);
                check_int(net_kind_of_packets(root_fd, cases[i].name), cases[i].of_packets);
        }
        close(root_fd);
        tree_remove(dir);
}

#define N_PROCESSES 10000

static void many_processes(void)
{
        char dir[64] = "/tmp/joulecast-many-XXXXXX", path[64], text[128];
        const struct machine_options options = { .root = dir };
        struct sources sources = { 0 };
        struct sample sample = { 0 };
        int found = 0;

        check(mkdtemp(dir) != NULL);
        for (int i = N_PROCESSES; i > 0; i--) { /* not in their order */
                int n = snprintf(text, sizeof(text), "%d (p%d) S" REST "%d 0" TAIL, i, i, i);

                snprintf(path, sizeof(path), "proc/%d/%s", i, i % 100 ? "stat" : "io"); /* every 100th is half gone */
                tree_write(dir, path, text, (size_t)n);
        }
        check_int(machine_open(&options, &sources), 0);
        for (int look = 0; look < 2; look++) {
                check_int(sources_read(&sources, &sample), 0);
                check_int(sample.n_processes, N_PROCESSES - N_PROCESSES / 100);
                for (size_t i = 1; i < sample.n_processes; i++)
                        found += sample.processes[i].pid > sample.processes[i - 1].pid;
        }
        check_int(found, 2 * (int)(sample.n_processes - 1));
        check_text(sample.processes[sample.n_processes - 1].app, "p9999");
        sources_close(&sources);
        sample_clear(&sample);
        tree_remove(dir);
}

int main(int argc, char **argv)
{
        stat_texts();
        io_texts();
        uids();
        cpu_texts();
        disk_and_net_texts();
        kinds_of_interfaces();
        if (argc > 1)
                many_processes();
        return check_result();
}
