/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The virtual phone's firmware: battery, charger, backlight, P-states and a thermal zone on a stock QEMU q35 with its
 * stock pc-testdev, for Linux' own drivers.
 *   MMIO 0xff000000         registers, below; the physics on the host reads and writes them over qtest
 *   I/O  0xe0, 0xe1         P-state control and status of CPU 0 and 1, in 100 MHz
 *   I/O  0x2005             interrupt 5 while 1: "look at EVNT"
 */
DefinitionBlock ("", "SSDT", 2, "VDEV", "VLAPTOP", 0x00000001)
{
    External (\_SB.CPUS.C000, ProcessorObj)
    External (\_SB.CPUS.C001, ProcessorObj)

    Scope (\_SB)
    {
        OperationRegion (VREG, SystemMemory, 0xFF000000, 0x100)
        Field (VREG, DWordAcc, NoLock, Preserve)
        {
            MAGC, 32,   // 00 magic, 0 at power-on
            ACON, 32,   // 04 AC online 0/1
            BSTA, 32,   // 08 _BST state: 1 discharging, 2 charging, 4 critical, 0 = idle/full
            BRAT, 32,   // 0C present rate, mW
            BREM, 32,   // 10 remaining capacity, mWh
            BVOL, 32,   // 14 present voltage, mV
            BDES, 32,   // 18 design capacity, mWh
            BFUL, 32,   // 1C last full charge capacity, mWh
            BLVL, 32,   // 20 backlight level, percent
            PPCL, 32,   // 24 _PPC limit (index of the fastest allowed P-state)
            EVNT, 32,   // 28 pending events: 1 BAT status, 2 BAT info, 4 AC, 8 PPC, 16 brightness up, 32 down
            BPRS, 32,   // 2C battery present
            NBST, 32,   // 30 counter: _BST evaluations
            NBCM, 32,   // 34 counter: backlight changes
            NEVT, 32,   // 38 counter: GED events
            TEMP, 32,   // 3C zone temperature, tenths of kelvin
            BUNT, 32,   // 40 the gauge's unit: 0 mWh and mW, 1 mAh and mA
            SLEP, 32,   // 44 the S state that it goes to, 0 when it is back
        }

        Device (VEC0)
        {
            Name (_HID, EisaId ("PNP0C02"))
            Name (_UID, "vdev")
            Name (_CRS, ResourceTemplate ()
            {
                IO (Decode16, 0x00E0, 0x00E0, 0x01, 0x0C)
                IO (Decode16, 0x2000, 0x2000, 0x01, 0x18)
            })
            Method (_INI, 0, Serialized)
            {
                If (MAGC != 0x56444556)
                {
                    ACON = 0
                    BSTA = 1
                    BRAT = 8000
                    BDES = 50000
                    BFUL = 48000
                    BREM = 40000
                    BVOL = 11800
                    BLVL = 100
                    PPCL = 0
                    EVNT = 0
                    BPRS = 1
                    TEMP = 3132
                    MAGC = 0x56444556
                }
            }
        }

        Device (BAT0)
        {
            Name (_HID, EisaId ("PNP0C0A"))
            Name (_UID, One)
            Name (_PCL, Package () { \_SB })
            Method (_STA, 0, NotSerialized)
            {
                If (BPRS) { Return (0x1F) }
                Return (0x0F)
            }
            Name (PBIX, Package ()
            {
                Zero,           // revision 0 = 20 elements (revision 1 needs a 21st, swap capability)
                Zero,           // power unit: mWh/mW  (1 would be mAh/mA -> charge_now/current_now)
                50000,          // design capacity
                48000,          // last full charge capacity
                One,            // rechargeable
                3700,           // design voltage mV
                4800,           // warning
                1400,           // low
                17,             // cycle count
                95000, 0xFFFFFFFF, 0xFFFFFFFF, 1000, 1000, // accuracy, max/min sampling time, averaging
                10, 10,         // granularities
                "VBAT-1", "0001", "LION", "VDEV"
            })
            Method (_BIX, 0, Serialized)
            {
                PBIX [1] = BUNT
                PBIX [2] = BDES
                PBIX [3] = BFUL
                Return (PBIX)
            }
            Name (PBST, Package () { Zero, Zero, Zero, Zero })
            Method (_BST, 0, Serialized)
            {
                NBST++
                PBST [0] = BSTA
                PBST [1] = BRAT
                PBST [2] = BREM
                PBST [3] = BVOL
                Return (PBST)
            }
        }

        Device (ADP0)
        {
            Name (_HID, "ACPI0003")
            Name (_PCL, Package () { \_SB })
            Method (_PSR, 0, NotSerialized) { Return (ACON) }
            Method (_STA, 0, NotSerialized) { Return (0x0F) }
        }

        /* The backlight as Fujitsu's laptops have it, ten levels: ACPI's own needs the driver of a real graphics chip. */
        Device (LCD0)
        {
            Name (_HID, "FUJ02B1")
            Name (_UID, "vdev")
            Method (_STA, 0, NotSerialized) { Return (0x0F) }
            Method (RBLL, 0, NotSerialized) { Return (11) }
            Method (GBLL, 0, NotSerialized) { Return (BLVL / 10) }
            Method (SBLL, 1, Serialized)
            {
                NBCM++
                BLVL = Arg0 * 10
            }
        }

        /* Generic Event Device: the EC's interrupt line */
        Device (GED0)
        {
            Name (_HID, "ACPI0013")
            Name (_UID, "vdev")
            Name (_CRS, ResourceTemplate ()
            {
                Interrupt (ResourceConsumer, Edge, ActiveHigh, Exclusive) { 5 }
            })
            Method (_EVT, 1, Serialized)
            {
                Local0 = EVNT
                EVNT = 0
                NEVT++
                If (Local0 & 0x02) { Notify (\_SB.BAT0, 0x81) }
                If (Local0 & 0x01) { Notify (\_SB.BAT0, 0x80) }
                If (Local0 & 0x04) { Notify (\_SB.ADP0, 0x80) }
                If (Local0 & 0x08)
                {
                    Notify (\_SB.CPUS.C000, 0x80)
                    Notify (\_SB.CPUS.C001, 0x80)
                }
                If ((Local0 & 0x10) && (BLVL < 100)) { BLVL += 10 }
                If ((Local0 & 0x20) && (BLVL > 0)) { BLVL -= 10 }
                If (Local0 & 0x30) { Notify (\_SB.LCD0, 0x80) }
            }
        }

        /* P-states: {MHz, mW, latency us, bm latency us, control, status} */
        Name (VPSS, Package ()
        {
            Package () { 2400, 6000, 10, 10, 0x18, 0x18 },
            Package () { 1800, 3600, 10, 10, 0x12, 0x12 },
            Package () { 1200, 2000, 10, 10, 0x0C, 0x0C },
            Package () {  800, 1200, 10, 10, 0x08, 0x08 }
        })
    }

    ThermalZone (\_TZ.TZ00)
    {
        Method (_TMP, 0, NotSerialized) { Return (\_SB.TEMP) }
        Method (_CRT, 0, NotSerialized) { Return (3732) }
        Method (_PSV, 0, NotSerialized) { Return (3582) }
        Name (_PSL, Package () { \_SB.CPUS.C000, \_SB.CPUS.C001 })
        Name (_TC1, 4)
        Name (_TC2, 3)
        Name (_TSP, 20)
        Name (_TZP, 20)
    }

    /*
     * What Linux calls before it sleeps, and when it is back. QEMU wakes with a reset, after which its ICH9 does not know where
     * its power management registers are (PMBASE), nor its host bridge where PCI's are (PCIEXBAR): SeaBIOS, which puts them
     * back by the latter, cannot. Without them there is no second sleep.
     */
    OperationRegion (PCIC, SystemIO, 0x0CF8, 8)
    Field (PCIC, DWordAcc, NoLock, Preserve)
    {
        PADR, 32,
        PDAT, 32,
    }
    OperationRegion (PM1C, SystemIO, 0x0604, 2)
    Field (PM1C, WordAcc, NoLock, Preserve) { SCIE, 1 }

    Method (\_PTS, 1, NotSerialized) { \_SB.SLEP = Arg0 }
    Method (\_WAK, 1, NotSerialized)
    {
        PADR = 0x80000060
        PDAT = 0xB0000001
        PADR = 0x8000F840
        PDAT = 0x00000601
        PADR = 0x8000F844
        PDAT = 0x00000080
        SCIE = 1
        \_SB.SLEP = 0
        Return (Package () { 0, 0 })
    }

    Scope (\_SB.CPUS.C000)
    {
        Name (_CST, Package () { 1, Package () { ResourceTemplate () { Register (FFixedHW, 1, 2, 0x0) }, 1, 1, 1000 } })
        Method (_PSS, 0, NotSerialized) { Return (\_SB.VPSS) }
        Method (_PPC, 0, NotSerialized) { Return (\_SB.PPCL) }
        Name (_PCT, Package ()
        {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x00E0) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x00E0) }
        })
        Name (_PSD, Package () { Package () { 5, 0, 0, 0xFE, 1 } })
    }
    Scope (\_SB.CPUS.C001)
    {
        Name (_CST, Package () { 1, Package () { ResourceTemplate () { Register (FFixedHW, 1, 2, 0x0) }, 1, 1, 1000 } })
        Method (_PSS, 0, NotSerialized) { Return (\_SB.VPSS) }
        Method (_PPC, 0, NotSerialized) { Return (\_SB.PPCL) }
        Name (_PCT, Package ()
        {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x00E1) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x00E1) }
        })
        Name (_PSD, Package () { Package () { 5, 0, 1, 0xFE, 1 } })
    }
}
