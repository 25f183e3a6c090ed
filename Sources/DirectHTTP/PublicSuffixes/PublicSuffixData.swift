// Made by scripts/public-suffixes; not to be edited.
// swift-format-ignore-file

extension PublicSuffix {
    /// The Public Suffix List (publicsuffix.org), under the terms of the Mozilla Public License 2.0:
    /// 10397 rules, version 2026-10-22_08-36-41_UTC.
    static let rules: StaticString = """
aaaA aarpA abbA abbottA abbvieA abcA ableA abogadoA abudhabiA acQ0=:1001I academyQ0=;J000: accentureA
accountantA accountantsA acoA actorA adA adsA adultA aeQ0=<40011 aegA aeroQ0==500M8 aetnaA afQ0>:=000I aflA
africaA agQ0>;6000M agakhanA agencyA aiQ0><3001; aigA airbusA airforceA airtelA akdnA alQ0>=>000N alibabaA
alipayA allfinanzA allstateA allyA alsaceA alstomA amQ0>><0013 amazonA americanexpressA americanfamilyA amexA
amfamA amicaA amsterdamA analyticsA androidA anquanA anzA aoQ0>??0017 aolA apartmentsA appQ0>@F00EC
appleQ0?69000= aqA aquarelleA arQ0?6F002E arabA aramcoA archiA armyA arpaQ0?9;001: artA arteA asQ0?:E0005
asdaA asiaQ0?:J000F associatesA atQ0?;@005L athletaA attorneyA auQ0?A<0039 auctionA audiA audibleA audioA
auspostA authorA autoA autosA awQ0?DE0005 awsQ0?DJ001? axA axaA azQ0?F90021 azureA baQ0?H:001C babyA baiduA
banamexA bandA bankA barQ0?IM0009 barcelonaA barclaycardA barclaysA barefootA bargainsA baseballA
basketballQ0?J60009 bauhausA bayernA bbQ0?J?001C bbcA bbtA bbvaA bcgA bcnA bdQ0?L20021 beQ0?N3003G beatsA
beautyA beerA berlinQ0@1J0006 bestA bestbuyA betA bfQ0@200005 bgQ0@25003C bhQ0@5H000I bhartiA biQ0@6A000G
bibleA bidA bikeA bingA bingoA bioA bizQ0@78004; bjQ0@;C004< blackA blackfridayA blockbusterA blogA
bloombergA blueA bmQ0@?O000I bmsA bmwA bnQ0@@H000M bnpparibasA boQ0@AE00:L boatsA boehringerA bofaA bomA
bondA booA bookA bookingA boschA bostikA bostonA botA boutiqueA boxA brQ0@LA00M8 bradescoA bridgestoneA
broadwayA brokerA brotherA brusselsA bsQ0AII000M btQ0AJF000I buildQ0AK?000I buildersQ0AL8000;
businessQ0ALC0004 buyA buzzA bvA bwQ0ALG000G byQ0AM>000N bzQ0AN<001= bzhA caQ0AOI003> cabA cafeA calA callA
calvinkleinA camA cameraA campQ0B37000= canonA capetownA capitalA capitaloneA carA caravanA cardsA careA
careerA careersA carsA casaQ0B3D000> caseQ0B420005 cashA casinoA catA cateringA catholicA cbaA cbnA cbreA
ccQ0B47004H cdQ0B8O0009 centerA ceoA cernA cfA cfaA cfdA cgA chQ0B98005D chanelA channelA charityA chaseA
chatA cheapA chintaiA christmasA chromeA churchA ciQ0B>L002> ciprianiA circleA ciscoA citadelA citiA citicA
cityA ckT0BA:0005 clQ0BA?000L claimsA cleaningA clickA clinicA cliniqueA clothingA cloudQ0BB;00?8
clubQ0C1C000F clubmedA cmQ0C29000C cnQ0C2L009B coQ0C<>0059 coachA codesQ0CAG0005 coffeeA collegeA cologneA
comQ0CAL05KG commbankA communityQ0I=C000G companyQ0I>:0007 compareA computerA comsecA condosA constructionA
consultingA contactA contractorsA cookingA coolQ0I>A000? coopA corsicaA countryA couponA couponsA coursesA
cpaA crQ0I?0000L creditA creditcardA creditunionA cricketA crownA crsA cruiseA cruisesA cuQ0I?L0013
cuisinellaA cvQ0I@O001E cwQ0IBD000D cxQ0IC80030 cyQ0IF80028 cymruA cyouA czQ0IH@002> dadA danceA dataA dateA
datingA datsunA dayA dclkA ddsA deQ0IJN00K< dealA dealerA dealsA degreeA deliveryA dellA deloitteA deltaA
democratA dentalA dentistA desiA designQ0JF:000> devQ0JFH00@H dhlA diamondsA dietA digitalA directQ0K7@0008
directoryA discountA discoverA dishA diyQ0K7H000D djA dkQ0K8<001H dmQ0K:4000M dnpA doQ0K;1001B docsA doctorA
dogA domainsA dotA downloadA driveA dtvA dubaiA dupontA durbanA dvagA dvrA dzQ0K<C001B earthA eatA
ecQ0K>50090 ecoA edekaA eduQ0KG5000= educationQ0KGB0004 eeQ0KGF001C egQ0KI90027 emailQ0KK@0017 emerckA
energyA engineerA engineeringA enterprisesA epsonA equipmentA erD ericssonA erniA esQ0KLG001A esqA
estateQ0KN80009 etQ0KNA001: euQ0KOK003F eurovisionA eusQ0L3A000? eventsQ0L40000< exchangeA expertA exposedA
expressA extraspaceA fageA failA fairwindsA faithA familyA fanQ0L4<0005 fansA farmA farmersA fashionA fastA
fedexA feedbackA ferrariA ferreroA fiQ0L4A002J fidelityA fidoA filmA finalA financeA financialQ0L7;0004 fireA
firestoneA firmdaleA fishA fishingA fitA fitnessA fjQ0L7?001L fkD flickrA flightsA flirA floristA flowersA
flyA fmQ0L9;0011 foA fooA foodA footballA fordA forexA forsaleA forumA foundationA foxA frQ0L:<00:5 freeA
freseniusA frlA frogansA frontierA ftrA fujitsuA funQ0LDA000F fundA furnitureA futbolA fyiA gaA galA galleryA
galloA gallupA gameA gamesQ0LE7000> gapA gardenA gayQ0LEE0007 gbA gbizA gdQ0LEL000: gdnQ0LF60006 geQ0LF<001M
geaA gentA gentingA georgeA gfA ggQ0LH90022 ggeeA ghQ0LJ;0013 giQ0LK>000N giftA giftsA givesA givingA
glQ0LL<000H glassA gleA globalQ0LM4000: globoA gmA gmailA gmbhA gmoA gmxA gnQ0LM>000M godaddyA goldA
goldpointA golfA goodyearA googQ0LN;000O googleA gopA gotA govA gpQ0LO:0010 gqA grQ0M0:001< graingerA
graphicsA gratisA greenA gripeA groceryA groupQ0M1F000; gsA gtQ0M210013 guQ0M34001: gucciA gugeA guideA
guitarsA guruA gwQ0M4>0004 gyQ0M4B000M hairA hamburgA hangoutA hausA hboA hdfcA hdfcbankA healthQ0M5?0005
healthcareA helpA helsinkiA hereA hermesA hiphopA hisamitsuA hitachiA hivA hkQ0M5D006O hktA hmA hnQ0M<C000N
hockeyA holdingsA holidayA homedepotA homegoodsA homesA homesenseA hondaA horseA hospitalA hostQ0M=A003O
hostingQ0MA@000; hotA hotelA hotelsA hotmailA houseA howA hrQ0MAK0016 hsbcA htQ0MC10033 huQ0MF4006D hughesA
hyattA hyundaiA ibmA icbcA iceA icuA idQ0MLH002H ieQ0MO@000C ieeeA ifmA ikanoA ilQ0N03001? imQ0N1B0017
imamatA imdbA immoA immobilienA inQ0N2I0090 incA industriesA infinitiA infoQ0N;I008> ingA inkA instituteA
insuranceA insureA intQ0ND70004 internationalA intuitA investmentsA ioQ0ND;00L8 ipirangaA iqQ0O@C000N
irQ0OAA002G irishA isA ismailiA istA istanbulA itQ0OD80458 itauA itvA jaguarA javaA jcbA jeQ13I@000B jeepA
jetztA jewelryA jioA jllA jmD jmpA jnjA joQ13J20024 jobsA joburgA jotA joyA jpQ13L602EB jpmorganA jprsA
juegosA kaufenA kddiA keQ16AH0018 kerryhotelsA kerrypropertiesA kfhA kgQ16C0001: khQ16D:000I kiQ16E30014 kiaA
kidsA kimA kindleA kitchenA kiwiA kmQ16F7003C knQ16IJ000D koelnA komatsuA kosherA kpQ16J>000N kpmgA kpnA
krQ16K<007N krdQ173:0009 kredA kuokgroupA kwQ173C0013 kyQ174F000D kyotoA kzQ175:0016 laQ176@001> lacaixaA
lamborghiniA lamerA landA landroverA lanxessA lasalleA latA latinoA latrobeA lawA lawyerA lbQ177N000I
lcQ178G0011 ldsA leaseA leclercA lefrakA legalA legoA lexusA lgbtA liA lidlA lifeA lifeinsuranceA lifestyleA
lightingA likeA lillyA limitedA limoQ179H0005 lincolnA linkQ179M003H liveQ17=E000? livingA lkQ17>4002= llcA
llpA loanA loansA lockerA locusA lolQ17@A0005 londonA lotteA lottoA loveA lplA lplfinancialA lrQ17@F000I
lsQ17A?001; ltQ17BJ0005 ltdA ltdaA luQ17BO000< lundbeckA luxeA luxuryA lvQ17C;001= lyQ17DH001< maQ17F4000N
madridA maifA maisonA makeupA manA managementA mangoA mapA marketA marketingA marketsA marriottA marshallsA
mattelA mbaA mcQ17G2000: mckinseyA mdQ17G<0004 meQ17G@0092 medA mediaQ180B0008 meetA melbourneA memeA
memorialA menA menuQ180J000D merckA merckmsdA mgQ181>0017 mhA miamiA microsoftA milA miniA mintA mitA
mitsubishiA mkQ182E0014 mlQ183I0026 mlbA mlsA mmD mmaA mnQ185O000D moQ186C000I mobiQ187<000@ mobileA modaA
moeA moiA momA monashA moneyA monsterA mormonA mortgageA moscowA motoA motorcyclesA movA movieA mpQ187L0004
mqA mrQ18800005 msQ18850013 msdA mtQ1898000D mtnA mtrA muQ189L0010 museumA musicA mvQ18:L002= mwQ18=9001A
mxQ18>J000I myQ18?C0019 mzQ18@L0016 naQ18B2000M nabA nagoyaA nameQ18BO001@ navyA nbaA ncQ18D?000; neA necA
netQ18DJ028O netbankA netflixA networkQ1:MI001? neustarA newQ1:O8000A newsQ1:OI000< nextA nextdirectA nexusA
nfQ1;05001I nflA ngQ1;1N002N ngoA nhkA niQ1;4L0024 nicoA nikeA nikonA ninjaA nissanA nissayA nlQ1;70002N
noQ1;9N07JC nokiaA nortonA nowQ1C4A000@ nowruzA nowtvA npD nrQ1C510014 nraA nrwA nttA nuQ1C65001; nycA
nzQ1C7@003B obiA observerA officeA okinawaA olayanA olayangroupA olloA omQ1C;2001? omegaA oneQ1C<A000G ongA
onionA onlA onlineQ1C=80022 oooA openA oracleA orangeQ1C?:0006 orgQ1C?@0189 organicA originsA osakaA otsukaA
ottA ovhQ1DGI0009 paQ1DH2001F pageQ1DIH002G panasonicA parisA parsA partnersA partsA partyA payA pccwA
peQ1DL?0013 petA pfQ1DMB000? pfizerA pgD phQ1DN1001? pharmacyA phdA philipsA phoneA photoA photographyA
photosQ1DO@0008 physioA picsA pictetA picturesQ1DOH0006 pidA pinA pingA pinkA pioneerA pizzaQ1DON0007
pkQ1E05002: plQ1E2?01CE placeQ1FF40004 playA playstationA plumbingA plusQ1FF8000@ pmQ1FFH000; pnQ1FG3000H
pncA pohlA pokerA politieA pornA postA prQ1FGK0024 praxiA pressA primeA proQ1FIO002N prodA productionsA profA
progressiveA promoA propertiesA propertyA protectionA pruA prudentialA psQ1FLM0013 ptQ1FN0001H pubQ1FOH000@
pwQ1G08000D pwcA pyQ1G0L0014 qaQ1G200019 qponA quebecA questA racingA radioA reQ1G39000H readA realestateA
realtorA realtyA recipesA redA redumbrellaA rehabA reiseA reisenA reitA relianceA renA rentA rentalsA repairA
reportA republicanA restA restaurantA reviewA reviewsQ1G410005 rexrothA richA richardliA ricohA rilA rioA
ripQ1G460006 roQ1G4<002; rocksQ1G6G0016 rodeoA rogersA roomA rsQ1G7M001G rsvpA ruQ1G9D008H rugbyA ruhrA
runQ1GB<0053 rwQ1GG?0012 rweA ryukyuA saQ1GHA0018 saarlandA safeA safetyA sakuraA saleA salonA samsclubA
samsungA sandvikA sandvikcoromantA sanofiA sapA sarlA sasA saveA saxoA sbQ1GII000I sbiA sbsA scQ1GJB000I scbA
schaefflerA schmidtA scholarshipsA schoolA schuleA schwarzA scienceA scotQ1GK;0011 sdQ1GL<0018 seQ1GMD007=
searchA seatA secureA securityA seekA selectA senerA servicesQ1H51000; sevenA sewA sexA sexyA sfrA
sgQ1H5<0013 shQ1H6?002K shangrilaA sharpA shellA shiaA shikshaA shoesA shopQ1H9:001< shoppingA shoujiA
showQ1H:F0004 siQ1H:J000= silkA sinaA singlesA siteQ1H;7009M sjA skQ1HE40005 skiA skinA skyA skypeA
slQ1HE9000I slingA smA smartA smileA snQ1HF20010 sncfA soQ1HG20016 soccerA socialA softbankA softwareA sohuA
solarA solutionsA songA sonyA soyA spaA spaceQ1HH8002D sportA spotA srA srlA ssQ1HJL001; stQ1HL70038 stadaA
staplesA starA statebankA statefarmA stcA stcgroupA stockholmA storageA storeQ1HO?0014 streamA
studioQ1I0C0004 studyA styleA suQ1I0G00?? sucksA suppliesA supplyA supportQ1I@60007 surfA surgeryA suzukiA
svQ1I@=000I swatchA swissA sxQ1IA60005 syQ1IA;000N sydneyA systemsQ1IB90007 szQ1IB@000= tabA taipeiA talkA
taobaoA targetA tatamotorsA tatarA tattooA taxA taxiA tcA tciA tdA tdkA teamQ1IBM000E techQ1ICB000<
technologyQ1ICN0004 telA temasekA tennisA tevaA tfQ1ID20005 tgA thQ1ID7001; thdA theaterA theatreA tiaaA
ticketsA tiendaA tipsA tiresA tirolA tjQ1IEB0026 tjmaxxA tjxA tkA tkmaxxA tlQ1IGH0005 tmQ1IGM0017 tmallA
tnQ1II4002I toQ1IKM002< todayQ1IN9000> tokyoA toolsQ1ING000F topQ1IO=000= torayA toshibaA totalA toursA townA
toyotaA toysA trQ1IOJ003D tradeA tradingA trainingA travelA travelersA travelersinsuranceA trustA trvA
ttQ1J3>001H tubeA tuiA tunesA tushuA tvQ1J56001K tvsA twQ1J710029 tzQ1J9:001H uaQ1J;200D3 ubankA ubsA
ugQ1JO5001E ukQ1K0J008H unicomA universityA unoA uolA upsA usQ1K9B00JO uyQ1L4A0012 uzQ1L5C000C vaA vacationsA
vanaA vanguardA vcQ1L66001E veQ1L7K003F vegasA venturesA verisignA versicherungA vetA vgQ1L;A0005 viQ1L;F000H
viajesA videoA vigA vikingA villasA vinA vipQ1L<>0007 virginA visaA visionA vivaA vivoA vlaanderenA
vnQ1L<E00E? vodkaA volvoA voteA votingA votoA voyageA vuQ1M24000D walesA walmartA walterA wangA wanggouA
watchA watchesA weatherA weatherchannelA webA webcamA weberA websiteQ1M2H0008 wedA weddingA weiboA weirA
wfQ1M30000: whoswhoA wienA wikiQ1M3:0008 williamhillA winA windowsA wineA winnersA wmeA woodsideA
workQ1M3B000F worksA worldA wowA wsQ1M48001K wtcA wtfQ1M630006 xboxA xeroxA xihuanA xinA xn--11b4c3dA
xn--1ck2e1bA xn--1qqw23aA xn--2scrj9cA xn--30rr7yA xn--3bst00mA xn--3ds443gA xn--3e0b707eA xn--3hcrj9cA
xn--3pxu8kA xn--42c2d9aA xn--45br5cylA xn--45brj9cA xn--45q11cA xn--4dbrk0ceQ1M69001E xn--4gbrimA
xn--54b7fta0ccA xn--55qw42gA xn--55qx5dA xn--5su34j936bgsgA xn--5tzm5gA xn--6frz82gA xn--6qq986b3xlA
xn--80adxhksA xn--80ao21aA xn--80aqecdr1aA xn--80asehdbA xn--80aswgA xn--8y0a063aA xn--90a3acQ1M7N001O
xn--90aeA xn--90aisA xn--9dbq2aA xn--9et52uA xn--9krt00aA xn--b4w605ferdA xn--bck1b9a5dre4cA xn--c1avgA
xn--c2br7gA xn--cck2b3bA xn--cckwcxetdA xn--cg4bkiA xn--clchc0ea0b2g2a9gcdA xn--czr694bA xn--czrs0tA
xn--czru2dA xn--d1acj3bA xn--d1alfA xn--e1a4cA xn--eckvdtc9dA xn--efvy88hA xn--fct429kA xn--fhbeiA
xn--fiq228c5hsA xn--fiq64bA xn--fiqs8sA xn--fiqz9sA xn--fjq720aA xn--flw351eA xn--fpcrj9c3dA xn--fzc2c9e2cA
xn--fzys8d69uvgmA xn--g2xx48cA xn--gckr3f0fA xn--gecrj9cA xn--gk3at1eA xn--h2breg3eveA xn--h2brj9cA
xn--h2brj9c8cA xn--hxt814eA xn--i1b6b1a6a2eA xn--imr513nA xn--io0a7iA xn--j1aefA xn--j1amhA
xn--j6w193gQ1M9M0029 xn--jlq480n2rgA xn--jvr189mA xn--kcrx77d1x4aA xn--kprw13dA xn--kpry57dA xn--kput3iA
xn--l1accA xn--lgbbat1ad8jA xn--mgb2ddesA xn--mgb9awbfA xn--mgba3a3ejtA xn--mgba3a4f16aA xn--mgba3a4fraA
xn--mgba7c0bbn0aA xn--mgbaam7a8hA xn--mgbab2bdA xn--mgbah1a3hjkrdA xn--mgbai9a5eva00bA xn--mgbai9azgqp6jA
xn--mgbayh7gpaA xn--mgbbh1aA xn--mgbbh1a71eA xn--mgbc0a9azcgA xn--mgbca7dzdoA xn--mgbcpq6gpa1aA
xn--mgberp4a5d4a87gA xn--mgberp4a5d4arA xn--mgbgu82aA xn--mgbi4ecexpA xn--mgbpl2fhA xn--mgbqly7c0a67fbcA
xn--mgbqly7cvafrA xn--mgbt3dhdA xn--mgbtf8flA xn--mgbtx2bA xn--mgbx4cd0abA xn--mix082fA xn--mix891fA
xn--mk1bu44cA xn--mxtq1mA xn--ngbc5azdA xn--ngbe9e0aA xn--ngbrxA xn--nnx388aA xn--nodeA xn--nqv7fA
xn--nqv7fs00emaA xn--nyqy26aA xn--o3cw4hQ1M<6002L xn--ogbpf8flA xn--otu796dA xn--p1acfQ1M?2003E xn--p1aiA
xn--pgbs0dhA xn--pssy2uA xn--q7ce6aA xn--q9jyb4cA xn--qcka1pmcA xn--qxa6aA xn--qxamA xn--rhqv96gA
xn--rovu88bA xn--rvc1e0am3eA xn--s9brj9cA xn--ses554gA xn--t60b56aA xn--tckweA xn--tiq49xqyjA xn--unup4yA
xn--vermgensberater-ctbA xn--vermgensberatung-pwbA xn--vhquvA xn--vuq861bA xn--w4r85el8fhu5dnraA xn--w4rs40lA
xn--wgbh1cA xn--wgbl6aA xn--xhq521bA xn--xkc2al3hye2aA xn--xkc2dl3a5ee0hA xn--y9a3aqA xn--yfro4i67oA
xn--ygbi2ammxA xn--zfr164bA xxxA xyzQ1MBG001= yachtsA yahooA yamaxunA yandexA yeQ1MD4000N yodobashiA yogaA
yokohamaA youA youtubeA ytQ1ME20005 yunA zaP1ME70030 zapposA zaraA zeroA zipA zmQ1MH7001F zoneQ1MIM001<
zuerichA zwQ1MK9000G comA drrC eduA feedbackC formsC govA milA netA orgA schC officialC acA coA govA milA
netA orgA schA accident-investigationA accident-preventionA aerobaticA aeroclubA aerodromeA agentsA
air-surveillanceA air-traffic-controlA aircraftA airlineA airportA airtrafficA ambulanceA associationA
authorA ballooningA brokerA caaA cargoA cateringA certificationA championshipA charterA civilaviationA clubA
conferenceA consultantA consultingA controlA councilA crewA designA dgcaA educatorA emergencyA engineA
engineerA entertainmentA equipmentA exchangeA expressA federationA flightA freightA fuelA glidingA
governmentA groundhandlingA groupA hangglidingA homebuiltA insuranceA journalA journalistA leasingA
logisticsA magazineA maintenanceA marketplaceA mediaA microlightA modellingA navigationA parachutingA
paraglidingA passenger-associationA pilotA pressA productionA recreationA repbodyA resA researchA rotorcraftA
safetyA scientistA servicesA showA skydivingA softwareA studentA taxiA traderA tradingA trainerA unionA
workinggroupA worksA comA eduA govA netA orgA coA comA netA nomA objC orgA comA framerC kiloappsC netA offA
orgA uwuC comA eduA govA milA netA orgA coA comA communeA netA orgA radioC coA edA eduA govA gvA itA ogA orgA
pbA aivenC base44C begetF botdashC braveS1ML00003 claudeC clerkC clerkstageC cloudflareC codepenC convexC
corespeedC csbS1ML30009 developerF e2bC easypanelC edgecomputeC encrS1ML<000: evervaultP1MLF0007
expoS1MLM000E flutterflowC framerC gadgetC githubC glideosC hackclubC hasuraC hostedF leapcellC loginlineC
lovableC luyaniC magicpatternsC medusajsC messerliC mirenC mochaC netlifyC ngrokC ngrok-freeC noopC
northflankF nyatC on-fleekC ondigitaloceanC onherculesC pplxC puterC railwayP1MMB0004 replitS1MMF0004 retoolC
rocketpreviewC runV1MMJ0006 shiptodayC snowflakeV1MN0000= spawnbaseC spritesC streamlitC telebitC typedreamC
upsunF vercelC walC wasmerC webC windsurfC wnextC zeaburC zeropsF intS1MN=000? betA comA coopA eduA gobA govA
intA milA musicaA mutualA netA orgA segA senasaA turA e164A homeA in-addrA ip6A irisA uriA urnA govA cloudnsC
daemonC dixC 123webseiteC 12hpC 2ixC 4C 4limaC acQ1MNL0005 coA dnshomeC funkfeuerP1MO10006 futurecmsV1MO70008
futurehostingC futuremailingC gvA lima-cityC myC myspreadshopC orA ortsinfoP1MO?000< privC actA asnA
comQ1MOK0011 confA eduQ1N0L001? govQ1N2;000G idA netA nswA ntA orgA ozA qldA saA tasA vicA waA comA
onP1N3200GO repostP1NK10009 sagemakerP1NK:00DK bizA coA comA eduA govA infoA intA milA nameA netA orgA ppA
proA brendlyP1O@50006 comA eduA govA milA netA orgA rsC resolveC ausC nzC bizA coA comA eduA govA infoA netA
orgA storeA tvA acA aiA coA comA eduA govA idA infoA itA milA netA orgA schA tvA 123websiteC acA cloudnsC
interhostsolutionsP1O@;0007 kuleuvenP1O@B0009 myC myspreadshopC transurlF webhostingS1O@K0006 ddnsC govA 0A
1A 2A 3A 4A 5A 6A 7A 8A 9A aA bA barsyC cA dA eA fA gA hA iA jA kA lA mA nA oA pA qA rA sA tA uA vA wA xA yA
zA comA eduA govA netA orgA coA comA eduA orA orgA activetrailC cloud-ipC cloudnsC dscloudC dyndnsC
for-betterC for-moreC for-someC for-theC joziC mmafanC myftpC no-ipC orxC selfipC webhopC africaA agroA
architectesA assurA avocatsA coA comA ecoA econoA eduA infoA loisirsA moneyA netA orgA oteA restaurantA
restoA tourismA univA comA eduA govA netA orgA coC comA eduA govA netA orgA academiaA agroA arteA blogA
boliviaA cienciaA comA cooperativaA democraciaA deporteA ecologiaA economiaA eduA empresaA gobA iaA indigenaA
industriaA infoA intA medicinaA milA movimientoA musicaA naturalA netA nombreA noticiasA orgA patriaA
plurinacionalA politicaA profesionalA puebloA revistaA saludA tecnologiaA tksatA transporteA tvA webA wikiA
9guacuA abcA admA advA agrA ajuA amA ananiA aparecidaA apiA appA arqA artA atoA bA barueriA belemA betA bhzA
bibA bioA blogA bmdA boavistaA bsbA campinagrandeA campinasA caxiasA cimA cngA cntA comQ1OA1000< contagemA
coopA cozA criA cuiabaA curitibaA defA desA detA devA ecnA ecoA eduA empA enfA engA espA etcA etiA farA
feiraA flogA floripaA fmA fndA fortalA fotA fozA fstA g12A geoA ggfA goianiaA govQ1OA=003< gruA iaA imbA indA
infA jabA jampaA jdfA joinvilleA jorA jusA legQ1ODI003< leilaoA lelA logA londrinaA macapaA maceioA manausA
maringaA matA medA milA morenaA mpA musA natalA netA niteroiA nomD notA ntrA odoA ongA orgA osascoA palmasA
poaA ppgA proA pscA psiA pvhA qslA radioA recA recifeA repA ribeiraoA rioA riobrancoA riopretoA salvadorA
sampaA santamariaA santoandreA saobernardoA saogoncaA segA sjcA slgA slzA socialA sorocabaA srvA taxiA tcA
tcheC tecA teoA theA tmpA trdA turA tvA udiA vetA vixA vlogA wikiA xyzA zlgA comA eduA govA netA orgA weC
comA eduA govA netA orgA shiptodayC v0C windsurfC cloudsiteC coC acA coA govA netA orgA comA govA mediatechC
milA ofA coA comA eduA govA gsjC mydnsC netA orgA zaC abA awdevF barsyC bcA boxC coC gcA mbA myspreadshopC
nbA nfA nlA no-ipC nsA ntA nuA onA onidC peA qcA skA ykA emfP1OH50004 nabuP1OH90004 savC ccwuC cleverappsC
cloud-ipC cloudnsC csxC ecC euC fantasyleagueC ftpaccessC game-serverC guC myphotosC scrappingC
spawnP1OH=000; sryzeC twmailC ukC usC ccC govA 123websiteC 12hpC 2ixC 4limaC cloudnsC cloudscaleP1OHH0010
dnskingC firenetV1OIH0005 flowP1OIM000G gotdnsC lima-cityC linkyard-cloudC myspreadshopC
objectstorageP1OJD000: square7C acA assoA coA comA edA eduA goA gouvA intA netA orA orgA usC xn--aroport-byaA
wwwH cloudnsC coA gobA govA milA antagonistC axarnetP1OJN0006 begetcdnF convexS1OK4000F diademC dnshomeC
elementorC emergentC encowayP1OKJ0004 hstgrC jelasticP1OKN0005 jeleC jenv-arubaP1OL3000D joteC joteluluC
k2P1OLG001F keliwebS1ON=0004 kuleuvenC laravelC linkyardC magentositeF matlabC observablehqC on-rancherF
online-serverC onstackitP1ONA0006 oxaS1ONG0008 primetelS1ONO0004 ravendbC reclaimP1OO3000< scwP1OO?003E
serveboltC staticsF trafficplexC trendhostingP20340008 unison-servicesC urownC vaporC voorloperC zapC barsyC
cloudnsC jeleC coA comA govA netA acA ahA bjA canva-appsC canva-codeC canvasiteP203<0004 comQ203@0021 cqA
eduA fjA gdA govA gsA gxA gzA haA hbA heA hiA hkA hlA hnA jlA jsA jxA khsjC lnA milA moA myqnapcloudC netA
nmA nxA orgA qhA quickconnectP205A0008 scA sdA shQ205I0004 snA sxA tjA twA xjA xn--55qx5dA xn--io0a7iA
xn--od0algA xzA ynA zjA carrdC comA crdC eduA firewalledreplitS205M0004 govA hidnsC leadpagesC lpagesC milA
mypiC netA nomA orgA otapF rdpaP2061000D replS206E0004 supabaseS206I000C umsoC xmitF owoF 0emmF 180rC
1cooldnsC 1kappC 3utilitiesC 4uC a2hostedC abrdnsC adobeaemcloudS207<0005 africaC aivencloudF alibabacloudcsC
amazonawsP207A01;: amazoncognitoP21BK00GO amazonlightsailS22:J000< amplifyappC appchiziC applinziC
apps-1and1C appspacehostedC appspaceusercontentC appspotS22;60003 atlassian-3pF atlassian-3p-us-gov-modF
atlassian-isolated-3pF atmetaC auiusercontentF authgear-stagingC authgearappsC awsapprunnerF awsappsC
awsglobalacceleratorC balena-devicesC barsycenterC barsyonlineC base44-sandboxC blogdnsC blogspotC blogsyteC
boutirC bplacedC brC builtwithdarkC bumbleshrimpC cafjsC canva-appsC canva-hosted-embedC canvacodeC
cdn77-storageC cechireC cf-ipfsC ciscofreakC claudeusercontentS22;90007 clever-cloudP22;@000:
cloudflare-ipfsC cnC coC codeP22;J0013 codespotC cprapidC cpserverC cursorusercontentF customer-ociV22<M000?
damnserverC databricksappsP22=<000A datadetectP22=M000@ dattolocalC dattorelayC dattowebC ddnsfreeC ddnsgeekC
ddnsguruC ddnskingC deC deployagentC deus-canvasC devinappsF digitaloceanspacesF discordsaysC discordsezC
ditchyouripC dnsabrC dnsaliasC dnsdojoC dnsiskinkyC doesntexistC dojinC dontexistC doomdnsC dopaasC drayddnsC
dreamhostersC drive-platformC dsmynasC durumisC dyn-o-saurC dynaliasC dyndns-at-homeC dyndns-at-workC
dyndns-blogC dyndns-freeC dyndns-homeC dyndns-ipC dyndns-mailC dyndns-officeC dyndns-picsC dyndns-remoteC
dyndns-serverC dyndns-webC dyndns-wikiC dyndns-workC dynnsC dynuddnsC dynuhostingC elasticbeanstalkS22>=00>6
emergentagentP22LC0009 encoreapiC est-a-la-maisonC est-a-la-masionC est-le-patronC est-mon-blogueurC euC
eu1-plenitC evennodeP22LL001@ familydsC fastly-edgeC fastly-terrariumC fastvps-serverC fbsbxP22N<0006
fin-ncloudstorageP22NB0011 firebaseappC firewall-gatewayC fldrvC forgeblocksC framercanvasC freebox-osC
freeboxosC freemyipC from-akC from-alC from-arC from-caC from-ctC from-dcC from-deC from-flC from-gaC
from-hiC from-iaC from-idC from-ilC from-inC from-ksC from-kyC from-maC from-mdC from-miC from-mnC from-moC
from-msC from-mtC from-ncC from-ndC from-neC from-nhC from-njC from-nmC from-nvC from-ohC from-okC from-orC
from-paC from-prC from-riC from-scC from-sdC from-tnC from-txC from-utC from-vaC from-vtC from-waC from-wiC
from-wvC from-wyC geekgalaxyC gentappsC gentlentapisC getmyipC giizeC githubusercontentC gleezeC googleapisC
googlecodeC gotdnsC gotpantheonC gov-ncloudstorageP22OC001A grC grayjayleaguesC hatenablogC hatenadiaryC
health-carereformC hercules-appC hercules-devC herokuappS23140009 hkC hobby-siteC homelinuxC homesecuritymacC
homesecuritypcC homeunixC hosted-by-filesC hosted-by-previderP231=0006 hostedpiC hosteurP231C000I
hotelwithflightC iamallamaC ik-serverP232<000H ip-ddnsC is-a-anarchistC is-a-bloggerC is-a-bookkeeperC
is-a-bulls-fanC is-a-catererC is-a-chefC is-a-conservativeC is-a-cpaC is-a-cubicle-slaveC is-a-democratC
is-a-designerC is-a-doctorC is-a-financialadvisorC is-a-geekC is-a-greenC is-a-guruC is-a-hard-workerC
is-a-hunterC is-a-landscaperC is-a-lawyerC is-a-liberalC is-a-libertarianC is-a-llamaC is-a-musicianC
is-a-nascarfanC is-a-nurseC is-a-painterC is-a-personaltrainerC is-a-photographerC is-a-playerC
is-a-republicanC is-a-rockstarC is-a-socialistC is-a-studentC is-a-teacherC is-a-techieC is-a-therapistC
is-an-accountantC is-an-actorC is-an-actressC is-an-anarchistC is-an-artistC is-an-engineerC
is-an-entertainerC is-certifiedC is-goneC is-into-animeC is-into-carsC is-into-cartoonsC is-into-gamesC
is-leetC is-not-certifiedC is-slickC is-uberleetC is-with-thebandC isa-geekC isa-hockeynutC issmarterthanyouC
itC jdevcloudC jelasticP23340006 jpnC kasserverC kozowC la1-plenitC ladeskC likes-pieC likescandyC
linodeP233:000G linodeobjectsF linodeusercontentP23410004 live-websiteC localtonetC logoipC loseyouripC
lovableprojectC lpusercontentC lutrausercontentF magicpatternsappC massivegridP23450006 messwithdnsC
metaaiusercontentF meteorappS234;0004 mexC miniserverC mochausercontentC modelscapeC mwcloudnonprodC
myactivedirectoryC myasustorC mycloudnasC mydattoC mydbserverC mydobissC myiphostC mynascloudC myqnapcloudC
mysecuritycameraC myshopblocksC myshopifyC myspreadshopC mytabitC mythic-beastsP234?002? mytuleapC myvncC
ncloudP236N000G ncloudstorageP237E002J ncpstorageP23:?0011 neat-urlC net-freaksC nfshostC
nospamproxyP23;@000? oaiusercontentF observableusercontentP23;O0008 on-aptibleC on-forgeC on-vaporC onrenderC
onthewifiC ooguyC operauniteC oraclecloudappsF oraclegovcloudappsF orsitesC outsystemscloudC ownproviderC
pagespeedmobilizerC paywhirlF pgfogC pivohostingC pixolinoC playstation-cloudC plesknsC point2thisC
polyspaceC postman-echoC prgmrP23<70005 project-studyP23<<0005 pythonanywhereS23<A0004 qa2C qbuserC
qualifioappC qualyhqpartnerF qualyhqportalF quicksytesC quipelementsF rackmazeC readthedocs-hostedC remotewdC
renderP23<E0005 reservdC rhcloudC rice-labsC routingthecloudC ruC saC sakuratanC sakurawebC
salesforceP23<J000B same-appC same-previewC saves-the-whalesC scrysecC securitytacticsC selfipC
sells-for-lessC sells-for-uC servebbsC servebeerC servecounterstrikeC serveexchangeC serveftpC servegameC
servehalflifeC servehttpC servehumourC serveircC servemp3C servep2pC servepicsC servequakeC servesarcasmC
shopitsiteC siiitesC simple-urlC simplesiteC sinaappC smushcdnC space-to-rentC stackhero-networkC
strapiappS23=<0007 streak-linkC streaklinksC streakusercontentC streamlitappC stufftoreadC subsc-payC
taveusercontentC tb-hostingP23=C0006 teaches-yogaC temp-dnsC theworkpcC thingdustdataC townnews-stagingC
try-snowplowC trycloudflareC tuleap-partnersC typeformP23=I0005 ukC unusualpersonC upsunappC usC us1-plenitC
vipsinaappC vivenushopC vultrobjectsF w-corp-staticblitzC w-credentialless-staticblitzC w-staticblitzC
wafaicloudP23=N000: wafflecellC webadorsiteC webspace-hostC wiardwebP23>80007 wiredbladehostingC withgoogleC
withyoutubeC wixsiteC wixstudioC woltlab-demoC workisboringC wpdevcloudC wpenginepoweredS23>?0004
wphostedmailC wpmucdnC writesthisblogC x0C xtooldeviceC yolasiteC zaC ztna-dingtalkF myforumC nogC ravendbC
myboxC deC elementorC acA coA edA fiA goA orA saA comA eduA gobA infA natA netA orgA comA devC eduA idA intA
netA nomeA orgA publA storeC comA eduA netA orgA assessmentsC athC calculatorsC cloudnsC funnelsC govA infoC
paynowC quizzesC researchedC testsC acA bizA comQ23>C000D eklogesA govA ltdA milA netA orgA pressA proA tmA
coC contentproxy9P23?70005 e4C govA metacentrumP23?<000? muniP23?K000? realmC 123webseiteC 12hpC 2ixC 4limaC
barsyC bplacedC bwcloud-os-instanceF coC comC community-proC cosidnsP23@:0005 ddnssS23@?000= ddnssecC
diskussionsbereichC dnshomeC dnsupdaterC dyn-berlinC dyn-ip24C dynamisches-dnsC dyndns1C dyndnssecC
firewall-gatewayC fruskyF fuettertdasnetzC git-reposC goipC heimdnsC home-webserverS23@L0005 home64C
hs-heilbronnP23A1000< in-berlinC in-brbC in-butterC in-dslC in-vpnC internet-dnsC ipv64C iservschuleC
isteingeekC istmeinC keymachineC l-o-g-i-nC lcube-serverC lebtimnetzC leitungsenC lima-cityC logoipC
mein-iservC myC my-gatewayC my-routerC myhome-serverC myspreadshopC rubC ruhr-uni-bochumS23A=000= schuldockC
schulplattformC schulserverC spdnsC speedpartnerP23AJ000: square7C srvdnsC svn-reposC taifun-dnsC test-iservC
traeumtgeradeC virtual-userC virtualuserC webspaceconfigC xenonconnectF xn--gnstigbestellen-zvbC
xn--gnstigliefern-wobC bssC graphicC barsyC bearblogC botdashC braveS23B40003 codepenC crmP23B7002B denoC
deno-stagingC erpS23DI0005 evervaultP23DN0007 flyC gatewayF githubpreviewC grebedocC hrsnC inbrowserF is-aC
is-a-fullstackC is-a-goodC is-coolC is-not-aC iservC lclF lclstageF leapcellC localcertP23E50006 localplayerC
loginlineC lpS23E;000> mediatechC mocha-sandboxC modxC myaddrC ngrokC ngrok-freeC pagesC panelC payloadC
platter-appC r2C replitV23EI0007 runcontainersC stgF stgstageF storageP23F00004 storageapiP23F40004 vercelC
vivenushopC webhareF workersC xmitC libp2pC discourseC imagineC 123hjemmesideC bizC coC firmC myspreadshopC
regC storeC coA comA eduA govA netA orgA artA comA eduA gobA govA milA netA orgA sldA webA artA assoA comA
eduA govA netA orgA polA socA tmA abgA admA agronA arqtA artA barA baseC chefA comA contA cpaA cueA dentA
dgnA discoA docA eduA engA esmA finA fotA galA gobA govA gyeA ibrA infoA k12A latA lojA medA milA mktgA monA
netA ntrA odontA officialC orgA proA profA psicA psiqA pubA rioA rrppA salA techA tulA turA uioA vetA xxxA
ritP23F8000; coC aipA comA eduA fieA govA libA medA orgA priA riikA acA comA eduA eunA govA infoA meA milA
nameA netA orgA sciA sportA tvA intouchC tawkP23FC0003 tawktoP23FF0003 123miwebC comA eduA gobA myspreadshopC
nomA orgA computeF bizA comA eduA govA infoA nameA netA orgA amazonwebservicesP23FI000< barsyC cloudnsC
deuxfleursC directwpC dnshomeC dogadoP23G5000: nxaF prvwC spdnsC transurlF partyP23G?0006 coC koobinC mkmC
123kotisivuC alandA cloudplatformP23GE0004 dyC ikiC kapsiC myspreadshopC xn--hkkinen-5waC coC acA bizA comA
eduA govA idA infoA milA nameA netA orgA proA comA eduA netA orgA radioC userF 123sitewebC aeroportC assoA
avocatC avouesA cciA chambagriC chirurgiens-dentistesC chirurgiens-dentistes-en-franceC comA dediboxC
experts-comptablesC fbx-osC fbxosC freebox-osC freeboxosC goupileC gouvA gretaA huissier-justiceA kdnsC
medecinC myspreadshopC nomA notairesC on-webC pharmacienC portC prdA tmA veterinaireC ynhC msC vicpC yicpC
zicpC pleyC sheezyC pagesC eduA govA cnpyC comA cybA eduA govA llcA netA onlineA orgA pvtA schoolA tnxA
botdashC coA kaasC netA orgA panelS23GI0008 plyP23H10008 stackitC bizA comA eduA govA milA netA orgA comA
eduA govA ltdA modA orgA coA comA eduA netA orgA appwriteC acA comA eduA govA netA orgA cloudC translateC
usercontentF assoA comA eduA mobiA netA orgA barsyC comA eduA govA netA orgA simplesiteC discourseC comA eduA
gobA indA milA netA orgA comA eduA govA guamA infoA netA orgA webA nxC coA comA eduA govA netA orgA hraC comA
eduA govA idvA incC ltdC netA orgA xn--55qx5dA xn--ciqpnA xn--gmq050iA xn--gmqw5aA xn--io0a7iA xn--lcvr32dA
xn--mk0axiA xn--mxtq1mA xn--od0algA xn--od0aq3bA xn--tn0agA xn--uc0atvA xn--uc0ay4aA xn--wcvs22dA xn--zf0avxA
comA eduA gobA milA netA orgA boltC cloudaccessC easypanelC emergentC fastvpsC freesiteC gadgetC halfC iservC
jeleC mircloudC myfastC tempurlC wp2C wpmudevC opencraftC brendlyP23H90006 comA fromA izA nameA adultA artA
assoA comA coopA eduA firmA gouvA infoA medA netA orgA persoA polA proA relA rtC shopA 2000A agrarA boltA
casinoA cityA coA eroticaA erotikaA filmA forumA gamesA hotelA infoA ingatlanA jogaszA konyveloA lakasA
mediaA newsA orgA privA reklamA sexA shopA sportA suliA szexA tmA tozsdeA utazasA videoA acA aiA bizA coA
desaA eC goA kopA milA myA netA orA ponpesA schA webA xn--9tfkyA zoneC govA myspreadshopC acA coQ23H?000N
govA idfA k12A muniA netA orgA acA coQ23I=000: comA netA orgA ttA tvA 5gA 6gA acA aeroA aiA alumniA amA bankA
barsyC biharA bizA businessA caA cloudnsC cnA coA comA coopA csA delhiA drA eduA erA finA firmA genA govA
gujaratA indA indevsC infoA intA internetA ioA meA milA netA nicA orgA pgA postA proA resA schoolA supabaseC
travelA tvA ubA ukA upA usA webC barrel-of-knowledgeC barrell-of-knowledgeC barsyC cloudnsC dnsupdateC
dvrcamC dynamic-dnsC dyndnsC for-ourC forumzC groks-theC groks-thisC here-for-moreC ilovecollegeC knowsitallC
mayfirstC mittwaldC mittwaldserverC no-ipC nsupdateC selfipC typo3serverC v-infoC webhopC euA 2038C apigeeC
azurecontainerF b-dataC barsyC basicserverC beagleboardC beebyteP23IG0006 beebyteappP23IM0007 bitbucketC
bluebiteC boxfuseC braveS23J40003 browsersafetymarkC bubbleP23J70005 bubbleappsC cleverappsC
cloudbeesusercontentC coA comA dappnodeP23J<0008 darklangC dedynC definimaC drive-platformC editorxC eduA
edugitC fh-muensterC forgerockP23JD0004 gitbookC githubC gitlabC govA hasura-appC hostyhostingC hypernodeC
icp0S23JH0005 icp1S23JM0005 jeleC keeneticC kiloappsC lairP23K20006 loginlineC lolipopC milA mo-siemensC
moonscaleF musicianC myaddrC myrdbxC netA ngrokS23K8000L nodeartP23L40007 nomA on-k3sF on-rioF orgA
pantheonsiteC pstmnS23L;0006 qcxS23LA0005 qotoC qzzC rb-hostingP23LF0006 readthedocsC resindeviceC
resinstagingP23LL0009 sandcatsC scryptedP23M50008 stolosF telebitC thingdustP23M=001L ticketsC utwenteC
vaporcloudC virtualserverC webflowC webflowtestC webthingsC wixstudioC comA eduA govA milA netA orgA acA
arvanedgeC coA govA idA netA orgA schA vistablogC xn--mgba3a4f16aA xn--mgba3a4fraA 123homepageC 16-bC 32-bC
64-bC abrA abruzzoA agA agrigentoA alA alessandriaA alto-adigeA altoadigeA anA anconaA andria-barletta-traniA
andria-trani-barlettaA andriabarlettatraniA andriatranibarlettaA aoA aostaA aosta-valleyA aostavalleyA aosteA
apA aqA arA arezzoA ascoli-picenoA ascolipicenoA astiA atA avA avellinoA baA balsanA balsan-sudtirolA
balsan-suedtirolA bariA barletta-trani-andriaA barlettatraniandriaA basA basilicataA bellunoA beneventoA
bergamoA bgA biA biellaA blA bnA boA bolognaA bolzanoA bolzano-altoadigeA bozenA bozen-sudtirolA
bozen-suedtirolA brA bresciaA brindisiA bsA btA bulsanA bulsan-sudtirolA bulsan-suedtirolA bzA caA cagliariA
calA calabriaA caltanissettaA camA campaniaA campidano-medioA campidanomedioA campobassoA carbonia-iglesiasA
carboniaiglesiasA carrara-massaA carraramassaA casertaA cataniaA catanzaroA cbA ceA cesena-forliA
cesenaforliA chA chietiA ciA clA cnA coA comoA cosenzaA crA cremonaA crotoneA csA ctA cuneoA czA
dell-ogliastraA dellogliastraA dnshomeC eduA emilia-romagnaA emiliaromagnaA emrA enA ennaA fcA feA fermoA
ferraraA fgA fiA firenzeA florenceA fmA foggiaA forli-cesenaA forlicesenaA frA friuli-v-giuliaA
friuli-ve-giuliaA friuli-vegiuliaA friuli-venezia-giuliaA friuli-veneziagiuliaA friuli-vgiuliaA
friuliv-giuliaA friulive-giuliaA friulivegiuliaA friulivenezia-giuliaA friuliveneziagiuliaA friulivgiuliaA
frosinoneA fvgA geA genoaA genovaA goA goriziaA govA grA grossetoA ibxosC iglesias-carboniaA
iglesiascarboniaA iliadboxosC imA imperiaA isA iserniaA krA la-speziaA laquilaA laspeziaA latinaA lazA lazioA
lcA leA lecceA leccoA liA ligA liguriaA livornoA loA lodiA lomA lombardiaA lombardyA ltA luA lucaniaA luccaA
macerataA mantovaA marA marcheA massa-carraraA massacarraraA materaA mbA mcA meA medio-campidanoA
mediocampidanoA messinaA miA milanA milanoA mnA moA modenaA molA moliseA monzaA monza-brianzaA
monza-e-della-brianzaA monzabrianzaA monzaebrianzaA monzaedellabrianzaA msA mtA myspreadshopC naA naplesA
napoliA neenP23O90004 noA novaraA nuA nuoroA ogA ogliastraA olbia-tempioA olbiatempioA orA oristanoA otA paA
padovaA paduaA palermoA parmaA paviaA pcA pdA peA perugiaA pesaro-urbinoA pesarourbinoA pescaraA pgA piA
piacenzaA piedmontA piemonteA pisaA pistoiaA pmnA pnA poA pordenoneA potenzaA prA pratoA ptA puA pugA pugliaA
pvA pzA raA ragusaA ravennaA rcA reA reggio-calabriaA reggio-emiliaA reggiocalabriaA reggioemiliaA rgA riA
rietiA riminiA rmA rnA roA romaA romeA rovigoA saA salernoA sarA sardegnaA sardiniaA sassariA savonaA siA
sicA siciliaA sicilyA sienaA siracusaA soA sondrioA spA srA ssA suA sud-sardegnaA sudsardegnaA suedtirolA svA
syncloudC taA taaA tarantoA teA tempio-olbiaA tempioolbiaA teramoA terniA tnA toA torinoA tosA toscanaA tpA
trA trani-andria-barlettaA trani-barletta-andriaA traniandriabarlettaA tranibarlettaandriaA trapaniA
trentin-sud-tirolA trentin-sudtirolA trentin-sued-tirolA trentin-suedtirolA trentinoA trentino-a-adigeA
trentino-aadigeA trentino-alto-adigeA trentino-altoadigeA trentino-s-tirolA trentino-stirolA
trentino-sud-tirolA trentino-sudtirolA trentino-sued-tirolA trentino-suedtirolA trentinoa-adigeA
trentinoaadigeA trentinoalto-adigeA trentinoaltoadigeA trentinos-tirolA trentinostirolA trentinosud-tirolA
trentinosued-tirolA trentinosuedtirolA trentinsud-tirolA trentinsudtirolA trentinsued-tirolA
trentinsuedtirolA trentoA trevisoA triesteA tsA turinA tuscanyA tvA udA udineA umbA umbriaA urbino-pesaroA
urbinopesaroA vaA val-d-aostaA val-daostaA vald-aostaA valle-aostaA valle-d-aostaA valle-daostaA valleaostaA
valled-aostaA valledaostaA vallee-aosteA vallee-d-aosteA valleeaosteA valleedaosteA vaoA vareseA vbA vcA vdaA
veA venA venetoA veneziaA veniceA verbaniaA verbano-cusio-ossolaA vercelliA veronaA viA vibo-valentiaA
vibovalentiaA vicenzaA viterboA vrA vsA vtA vvA xn--balsan-sdtirol-nsbA xn--bozen-sdtirol-2obA
xn--bulsan-sdtirol-nsbA xn--cesena-forl-mcbA xn--cesenaforl-i8aA xn--forl-cesena-fcbA xn--forlcesena-c8aA
xn--sdtirol-n2aA xn--trentin-sd-tirol-rzbA xn--trentin-sdtirol-7vbA xn--trentino-sd-tirol-c3bA
xn--trentino-sdtirol-szbA xn--trentinosd-tirol-rzbA xn--trentinosdtirol-7vbA xn--trentinsd-tirol-6vbA
xn--trentinsdtirol-nsbA xn--valle-aoste-ebbA xn--valle-d-aoste-ehbA xn--valleaoste-e7aA xn--valledaoste-ebbA
coA netA ofC orgA agriA aiA comA eduA engA fmA govA milA netA orgA perA phdA schA tvA 0amC 0g0C 0j0C 0t0C
2-dC acA adA aichiQ23O=00=> akitaQ24<K007F angryC aomoriQ24DA0068 babyblueC babymilkC backdropC bambinaC
bitterC blushC bonaC booC boyC boyfriendC butC buyshopC candypopC capooC catfoodC cheapC chibaQ24JI00@G
chicappaC chilloutC chipsC chowderC chuC ciaoC coA cocotteC coolblogC crankyC crapC cutegirlC daaC daynightC
decaC deciC digickC edA eekC egoismC ehimeQ25;@005H fakefurC fashionstoreC femC flierC flopC floppyC foolC
frenchkissC fukuiQ25A8003L fukuokaQ25E400@4 fukushimaQ265800>@ gifuQ26CH00:: girlfriendC girlyC gloomyC goA
gonnaC grA greaterC gunmaQ26N200:8 haccaC halfmoonC handcraftedC hatebloC hatenablogC hatenadiaryC heavyC
herC hihoC hippyC hiroshimaQ278:0075 hokkaidoQ27??019C holyC hungryC hyogoQ28I200<4 ibarakiQ295600=J icurusC
ishikawaQ29C0004L itigoC iwateQ29GL009A jeezC jellybeanC kagawaQ2:1=004> kagoshimaQ2:5K005D kanagawaQ2:;?0088
kawaiishopC kawasakiT2:CG0006 kikiraraC killC kiloC kitakyushuT2:CM0006 kobeT2:D30006 kochiQ2:D90080
kumamotoQ2:L90063 kuronC kyotoQ2;2<008> lgA littlestarC lolipopmcC lolitapunkC lomoC lovepopC lovesickC mainC
matrixC mieQ2;:J007; mimozaC miyagiQ2;B50097 miyazakiQ2;K<007G modsC mondC mongolianC mooC mydnsC
naganoQ2<3300D6 nagasakiQ2<G9005M nagoyaT2<M60006 namasteC naraQ2<M<00:L neQ2=88002G netgamersC
niigataQ2=:O008J nikitaC nobushiC noorC nyantaC o0o0C oitaQ2=CI004F okayamaQ2=H?0071 okinawaQ2=O@00;F oopsC
orA osakaQ2>;600?0 parallelC parasiteC pecoriC peeweeC penneC pepperC permaC pgwC pigboatC pinokoC punyuC
pupuC pussycatC pyaC raindropC rdyC readymadeC rgrC rulezC sadistC sagaQ2>J6006L saitamaQ2?1200C5
sakurastorageP2?D7000N saloonC sapporoT2?E50006 sbloC schoolbusC secretC sendaiT2?E;0006 shigaQ2?EA0067
shimaneQ2?KH0066 shizuokaQ2@1N00:6 skrC stabaC stripperC subC sunnydayC supersaleC tankC theshopC thickC
tochigiQ2@<4008: tokushimaQ2@D>004G tokyoQ2@I500@8 tonkotsuC tottoriQ2A9=003; toyamaQ2A<H0068 uh-ohC underC
undoC upperC usercontentC velvetC verseC versusC vivianC wakayamaQ2AC00080 watsonC webaccelP2AK0000: weblikeC
websozaiC whitesnowC wjgC xiiC xn--0trq7p7nnA xn--1ctwoA xn--1lqs03nA xn--1lqs71dA xn--2m4a15eA xn--32vp30hA
xn--4it168dA xn--4it797kA xn--4pvxsA xn--5js045dA xn--5rtp49cA xn--5rtq34kA xn--6btw5aA xn--6orx2rA
xn--7t0a264cA xn--8ltr62kA xn--8pvr4uA xn--c3s14mA xn--d5qv7z876cA xn--djrs72d6uyA xn--djty4kA xn--efvn9sA
xn--ehqz56nA xn--elqq16hA xn--f6qx53aA xn--k7yn95eA xn--kbrq7oA xn--klt787dA xn--kltp7dA xn--kltx9aA
xn--klty5xA xn--mkru45iA xn--nit225kA xn--ntso0iqx3aA xn--ntsq17gA xn--pssu33lA xn--qqqt11mA xn--rht27zA
xn--rht3dA xn--rht61eA xn--rny31hA xn--tor131oA xn--uist22hA xn--uisz3gA xn--uuwu58aA xn--vgu402cA
xn--zbx025dA yamagataQ2AK:009> yamaguchiQ2B4H003M yamanashiQ2B8E008< yokohamaT2BA10006 zombieC acA coA goA
infoA meA mobiA neA orA scA aeC comA eduA govA milA netA orgA usC xxC comA eduA govA netA orgA bizA comA eduA
govA infoA netA orgA assA assoA comA coopA eduA gouvA govA medecinA milA nomA notairesA orgA pharmaciensA
prdA presseA tmA veterinaireA eduA govA netA orgA comA eduA govA orgA repA traA acA aiA busanA c01C chungbukA
chungnamA coA daeguA daejeonA eliv-apiC eliv-cdnC eliv-dnsC esA gangwonA goA gwangjuA gyeongbukA gyeonggiA
gyeongnamA hsA incheonA ioA itA jejuA jeonbukA jeonnamA kgA meA milA mmvC msA neA orA peA reA scA seoulA
ulsanA vkiC coC eduC comA eduA embA govA indA netA orgA comA eduA netA orgA comA eduA govA jcloudC milA netA
orgA bnrC comA eduA govA infoA intA netA orgA perA comA eduA govA netA orgA coA comA eduA govA netA orgA oyC
ethF canvaC cyonC dwebF ethF inbrowserF joinmcC keeneticC myfritzC mypepC nftstorageP2BA70006
storachaP2BA=0006 w3sP2BAC0006 aemC ewpF hlxC acA assnA comA eduA govA grpA hotelA intA ltdA netA ngoA orgA
schA socA webA omgC comA eduA govA netA orgA acA bizA coA eduA govA infoA netA orgA scA govA 123websiteC asnA
comA confA eduA govA idA milA netA orgA comA eduA govA idA medA netA orgA plcA schA acA coA govA netA orgA
pressA assoA tmA irC acA barsyC brasiliaC c66C coA craftC ddnsC diskstationC dnsforC dscloudC edgestackC eduA
filegearC filegear-sgC govA grokC hoocP2BAI0008 hoptoC i234C itsA logintoC lohmusC mcdirC myboxC mydsC netA
nohostC noipC opencloudC orgA privA soundcastC synologyC tcp4C transipP2BB10006 vp4C webhopC framerC barsyC
barsyonlineC coA comA eduA govA milA nomA orgA prdA comA eduA govA infA nameA netA orgA acA artA assoA comA
eduA gouvA govA infoA instA netA orgA prA presseA eduA govA nycC orgA comA eduA govA netA orgA barsyC
dscloudC juC govA comA eduA govA minisiteC netA orgA comA eduA netA orgA acA coA comA govA netA orA orgA
aeroA bizA comA coopA eduA govA infoA intA milA museumA nameA netA orgA proA acA bizA coA comA coopA eduA
govA intA netA orgA comA eduA gobA netA orgA bizA comA eduA govA milA nameA netA orgA acA advA coA eduA govA
milA netA orgA altA coA comA govA netA orgA herP2BB70008 hisP2BB?0008 ispmanagerC keeneticC assoA nomA
adobeaemcloudC adobeio-staticC adobeioruntimeC akadnsC akamaiC akamai-stagingC akamaiedgeC
akamaiedge-stagingC akamaihdC akamaihd-stagingC akamaioriginC akamaiorigin-stagingC akamaizedC
akamaized-stagingC alwaysdataC apps-1and1C appudoC at-band-campC atlassian-devP2BBG000> azure-apiC
azure-mobileC azureedgeC azurefdC azurestaticappsS2BC50028 azurewebsitesS2BE=015I barsyC blackbaudcdnC
blogdnsC boomlaC botdashC bouncemeC bplacedC broke-itC buyshousesC casacamC cdn-edgesC cdn77P2CK60003
cdn77-sslC channelsdvrS2CK90003 clickrisingC cloudaccessC cloudappC cloudflareS2CK<0005
cloudflareanycastP2CKA0005 cloudflarecnP2CKF0005 cloudflareglobalP2CKK0005 cloudfrontC cloudfunctionsC
cloudjiffyS2CL0000C cloudyclusterC community-proC ctfcloudC dattolocalC ddnsC ddns-ipC de5C debianC definimaC
denoS2CLC0009 dns-cloudC dns-dynamicC dnsaliasC dnsdojoC dnsupC does-itC dontexistC dsmynasC dynaliasC
dynathomeC dynuC dynuddnsC dynv6C eating-organicC edgekeyC edgekey-stagingC edgesuiteC edgesuite-stagingC
elastxP2CLL000N endofinternetC familydsC fastlyP2CMJ0019 fastlylbS2CO30005 feste-ipC firewall-gatewayC
from-azC from-coC from-laC from-nyC gbC gets-itC ggffC grafana-devC ham-radio-opC hetemlC hicamC homeftpC
homeipC homelinuxC homeunixC hrsnP2CO80005 huC icpF inC in-dslC in-the-bandC in-vpnC iobbC ipifonyC ipv64C
is-a-chefC is-a-geekC isa-geekC jpC keyword-onC kicks-assC kinghostC knx-serverC krellianC live-onC
localcertC localtoF luyaniC mafeloC massivegridP2CO=000> meinforumC memsetC moonscaleC myamazeC mydattoC
mydissentC myeffectC myfritzC mymediapcC mynetnameP2COK0004 mypsxC myradwebC mysecuritycameraC myspreadshopC
mysynologyC nhlfanC no-ipC now-dnsC office-on-theC oninfernoC opikC ovhP2COO000B ownipC pgafanC podzoneC
privatizehealthinsuranceC rackmazeC redirectmeC reserve-onlineC routingthecloudC ruC saveincloudP2D0A000H
scaleforceP2D190003 schokokeksC scrapper-siteC seC seidatC selfipC sells-itC senseeringC servebbsC serveblogC
serveftpC serveminecraftC server-onC shopselectC siteleafC sprytC square7C squaresC srcfP2D1<000;
static-accessC subsc-payC supabaseC sytesC thruhereC torprojectS2D1G0007 trafficmanagerC tsS2D1N0003
tunnelmoleC twmailC ukC uni5C usgovcloudapiP2D21000J usgovcloudappC usgovtrafficmanagerC vpndnsC
vps-hostS2D2K000B vusercontentC webhopC windowsP2D3=000J yandexcloudS2D47000B zaC zabcC aemC alcesF appwriteC
arvoC azimuthC coC tlonC builtwithrocketF noticeableC artsA comA firmA infoA netA otherA perA recA storeA
webA bizS2D4I000D colC comA eduA firmC genC govA iA ltdC milA mobiA nameA netA ngoC orgA plcC schA acA bizA
coA comA eduA gobA inA infoA intA milA netA nomA orgA webA 123websiteC cistronC coC demonC govC
hosting-clusterS2D5=0006 khplayC myspreadshopC transurlF 123hjemmesideC aaQ2D5C0004 aarborteA aejrieA afjordA
agdenesA ahQ2D5G0004 akershusP2D5K0005 aknoluoktaA akrehamnA alA alaheadjuA alesundA algardA alstahaugA altaA
alvdalA amliA amotA andasuoloA andebuA andoyA ardalA aremarkA arendalA arnaA aseralA askerA askimA askoyA
askvollA asnesA audnedalA aukraA aureA aurlandA aurskog-holandA austevollA austrheimA averoyA badaddjaA
bahcavuotnaA bahccavuotnaA baidarA bajddarA balatA balestrandA ballangenA balsfjordA bambleA barduA barumA
batsfjordA bearalvahkiA bearduA beiarnA bergA bergenA berlevagA bievatA bindalA birkenesA bjerkreimA bjugnA
bodoA boknA bomloA bremangerA bronnoyA bronnoysundA brumunddalA bryneA buQ2D600004 budejjuA buskerudP2D640005
byglandA bykleA cahcesuoloA coC davvenjargaA davvesiidaA deatnuA depA dielddanuorriA divtasvuodnaA
divttasvuotnaA donnaA dovreA drammenA drangedalA drobakA dyroyA egersundA eidA eidfjordA eidsbergA eidskogA
eidsvollA eigersundA elverumA enebakkA engerdalA etneA etnedalA evenassiA evenesA evje-og-hornnesA farsundA
fauskeA fedjeA fetA fetsundA fhsA finnoyA fitjarA fjalerA fjellA flaA flakstadA flatangerA flekkefjordA
flesbergA floraA floroA fmQ2D690004 folkebiblA folldalA fordeA forsandA fosnesA franaA fredrikstadA frognA
frolandA frostaA froyaA fuoiskuA fuosskoA fusaA fylkesbiblA fyresdalA gaivuotnaA galsaA gamvikA gangaviikaA
gaularA gausdalA giehtavuoatnaA gieldaA gildeskalA giskeA gjemnesA gjerdrumA gjerstadA gjesdalA gjovikA
gloppenA golA granA graneA granvinA gratangenA grimstadA grongA grueA gulenA guovdageaidnuA haA habmerA
hadselA hagebostadA haldenA halsaA hamarA hamaroyA hammarfeastaA hammerfestA hapmirA haramA hareidA harstadA
hasvikA hattfjelldalA haugesundA hedmarkP2D6=000I hemneA hemnesA hemsedalA heradA hitraA hjartdalA
hjelmelandA hlQ2D760004 hmQ2D7:0004 hobolA hofA hokksundA holA holeA holmestrandA holtalenA honefossA
hordalandP2D7>0004 hornindalA hortenA hoyangerA hoylandetA hurdalA hurumA hvalerA hyllestadA ibestadA idrettA
inderoyA ivelandA ivguA jan-mayenQ2D7B0004 jessheimA jevnakerA jolsterA jondalA jorpelandA kafjordA
karasjohkaA karasjokA karlsoyA karmoyA kautokeinoA kirkenesA klabuA kleppA kommuneA kongsbergA kongsvingerA
kopervikA kraanghkeA krageroA kristiansandA kristiansundA krodsheradA krokstadelvaA kvafjordA kvalsundA kvamA
kvanangenA kvinesdalA kvinnheradA kviteseidA kvitsoyA laakesvuemieA lahppiA langevagA lardalA larvikA
lavagisA lavangenA leangaviikaA lebesbyA leikangerA leirfjordA leirvikA lekaA leksvikA lenvikA lerdalA lesjaA
levangerA lierA lierneA lillehammerA lillesandA lindasA lindesnesA loabatA lodingenA lomA loppaA lorenskogA
lotenA lundA lunnerA luroyA lusterA lyngdalA lyngenA malatvuopmiA malselvA malvikA mandalA markerA marnardalA
masfjordenA masoyA matta-varjjatA melandA meldalA melhusA meloyA merakerA midsundA midtre-gauldalA milA
mjondalenA mo-i-ranaA moarekeA modalenA modumA moldeA more-og-romsdalP2D7F000> mosjoenA moskenesA mossA
mrQ2D840004 muosatA museumA myspreadshopC naamesjevuemieA namdalseidA namsosA namsskoganA nannestadA naroyA
narviikaA narvikA naustdalA navuotnaA nedre-eikerA nesnaA nesoddenA nesoddtangenA nessebyA nessetA nissedalA
nittedalA nlQ2D880004 nord-aurdalA nord-fronA nord-odalA norddalA nordkappA nordlandP2D8<0014 nordre-landA
nordreisaA nore-og-uvdalA notoddenA notteroyA ntQ2D9@0004 oddaA ofQ2D9D0004 oksnesA olQ2D9H0004 omasvuotnaA
oppdalA oppegardA orkangerA orkdalA orlandA orskogA orstaA osenA osloQ2D9L0004 osoyroA osteroyA
ostfoldP2D:00007 ostre-totenA overhallaA ovre-eikerA oyerA oygardenA oystre-slidreA porsangerA porsanguA
porsgrunnA privA radeA radoyA rahkkeravjuA raholtA raisaA rakkestadA ralingenA ranaA randabergA raumaA reA
rendalenA rennebuA rennesoyA rindalA ringebuA ringerikeA ringsakerA risorA rissaA rlQ2D:70004 roanA rodoyA
rollagA romsaA romskogA rorosA rostA roykenA royrvikA ruovatA ryggeA salangenA salatA saltdalA samnangerA
sandefjordA sandnesA sandnessjoenA sandoyA sarpsborgA saudaA sauheradA selA selbuA seljeA seljordA
sfQ2D:;0004 siellakA sigdalA siljanA sirdalA skanitA skanlandA skaunA skedsmoA skedsmokorsetA skiA skienA
skiervaA skiptvetA skjakA skjervoyA skodjeA slattumA smolaA snaaseA snasaA snillfjordA snoasaA sogndalA
sogneA sokndalA solaA solundA somnaA sondre-landA songdalenA sor-aurdalA sor-fronA sor-odalA sor-varangerA
sorfoldA sorreisaA sortlandA sorumA spjelkavikA spydebergA stQ2D:?0004 stangeA statA stathelleA stavangerA
stavernA steigenA steinkjerA stjordalA stjordalshalsenA stokkeA stor-elvdalA stordA stordalA storfjordA
strandA strandaA strynA sulaA suldalA sundA sunndalA suohkanA surnadalA svalbardQ2D:C0004 sveioA svelvikA
sykkylvenA tanaA tanangerA telemarkP2D:G000? timeA tingvollA tinnA tjeldsundA tjielteA tjomeA tmQ2D;60004
tokkeA tolgaA tonsbergA torskenA trQ2D;:0004 tranaA tranbyA tranoyA troandinA trogstadA tromsaA tromsoA
trondheimA trysilA tvedestrandA tydalA tynsetA tysfjordA tysnesA tysvarA uenorgeA ullensakerA ullensvangA
ulsteinA ulvikA unjargaA utsiraA vaQ2D;>0004 vaapsteA vadsoA vagaA vaganA vagsoyA vaksdalA valleA vangA
vanylvenA vardoA varggatA varoyA vefsnA vegaA vegarsheiA venneslaA verdalA verranA vestbyA vestfoldP2D;B0007
vestnesA vestre-slidreA vestre-totenA vestvagoyA vevelstadA vfQ2D;I0004 vgsA vikA viknaA vindafjordA voagatA
voldaA vossA vossevangenA xn--andy-iraA xn--asky-iraA xn--aurskog-hland-jnbA xn--avery-yuaA xn--bdddj-mrabdA
xn--bearalvhki-y4aA xn--berlevg-jxaA xn--bhcavuotna-s4aA xn--bhccavuotna-k7aA xn--bidr-5nacA xn--bievt-0qaA
xn--bjddar-ptaA xn--blt-elabA xn--bmlo-graA xn--bod-2naA xn--brnny-wuacA xn--brnnysund-m8acA xn--brum-voaA
xn--btsfjord-9zaA xn--davvenjrga-y4aA xn--dnna-graA xn--drbak-wuaA xn--dyry-iraA xn--eveni-0qa01gaA
xn--finny-yuaA xn--fjord-lraA xn--fl-ziaA xn--flor-jraA xn--frde-graA xn--frna-woaA xn--frya-hraA
xn--ggaviika-8ya47hA xn--gildeskl-g0aA xn--givuotna-8yaA xn--gjvik-wuaA xn--gls-elacA xn--h-2faA
xn--hamary-fyaA xn--hbmer-xqaA xn--hcesuolo-7ya35bA xn--hgebostad-g3aA xn--hmmrfeasta-s4acA xn--hnefoss-q1aA
xn--hobl-iraA xn--holtlen-hxaA xn--hpmir-xqaA xn--hyanger-q1aA xn--hylandet-54aA xn--indery-fyaA
xn--jlster-byaA xn--jrpeland-54aA xn--karlsy-fyaA xn--karmy-yuaA xn--kfjord-iuaA xn--klbu-woaA
xn--koluokta-7ya57hA xn--krager-gyaA xn--kranghke-b0aA xn--krdsherad-m8aA xn--krehamn-dxaA
xn--krjohka-hwab49jA xn--ksnes-uuaA xn--kvfjord-nxaA xn--kvitsy-fyaA xn--kvnangen-k0aA xn--l-1faA
xn--laheadju-7yaA xn--langevg-jxaA xn--ldingen-q1aA xn--leagaviika-52bA xn--lesund-huaA xn--lgrd-poacA
xn--lhppi-xqaA xn--linds-praA xn--loabt-0qaA xn--lrdal-sraA xn--lrenskog-54aA xn--lt-liacA xn--lten-graA
xn--lury-iraA xn--mely-iraA xn--merker-kuaA xn--mjndalen-64aA xn--mlatvuopmi-s4aA xn--mli-tlaA
xn--mlselv-iuaA xn--moreke-juaA xn--mosjen-eyaA xn--mot-tlaA xn--mre-og-romsdal-qqbP2D;M000E xn--msy-ula0hA
xn--mtta-vrjjat-k7afA xn--muost-0qaA xn--nmesjevuemie-tcbaA xn--nry-yla5gA xn--nttery-byaeA xn--nvuotna-hwaA
xn--oppegrd-ixaA xn--ostery-fyaA xn--osyro-wuaA xn--porsgu-sta26fA xn--rady-iraA xn--rdal-poaA xn--rde-ulaA
xn--rdy-0nabA xn--rennesy-v1aA xn--rhkkervju-01afA xn--rholt-mraA xn--risa-5naA xn--risr-iraA xn--rland-uuaA
xn--rlingen-mxaA xn--rmskog-byaA xn--rros-graA xn--rskog-uuaA xn--rst-0naA xn--rsta-fraA xn--ryken-vuaA
xn--ryrvik-byaA xn--s-1faA xn--sandnessjen-ogbA xn--sandy-yuaA xn--seral-lraA xn--sgne-graA xn--skierv-utaA
xn--skjervy-v1aA xn--skjk-soaA xn--sknit-yqaA xn--sknland-fxaA xn--slat-5naA xn--slt-elabA xn--smla-hraA
xn--smna-graA xn--snase-nraA xn--sndre-land-0cbA xn--snes-poaA xn--snsa-roaA xn--sr-aurdal-l8aA
xn--sr-fron-q1aA xn--sr-odal-q1aA xn--sr-varanger-ggbA xn--srfold-byaA xn--srreisa-q1aA xn--srum-graA
xn--stfold-9xaP2D<B000> xn--stjrdal-s1aA xn--stjrdalshalsen-sqbA xn--stre-toten-zcbA xn--tjme-hraA
xn--tnsberg-q1aA xn--trany-yuaA xn--trgstad-r1aA xn--trna-woaA xn--troms-zuaA xn--tysvr-vraA xn--unjrga-rtaA
xn--vads-jraA xn--vard-jraA xn--vegrshei-c0aA xn--vestvgy-ixa6oA xn--vg-yiabA xn--vgan-qoaA xn--vgsy-qoa0jA
xn--vre-eiker-k8aA xn--vrggt-xqadA xn--vry-yla5gA xn--yer-znaA xn--ygarden-p1aA xn--ystre-slidre-ujbA dynC
hereC tmpC bizA comA eduA govA infoA netA orgA enterprisecloudC merseineC mineC shacknetC acA cloudnsC coA
criA geekA genA govtA healthA iwiA kiwiA maoriA milA netA orgA parliamentA schoolA xn--mori-qsaA coA comA
eduA govA medA museumA netA orgA proA kinF serviceC websiteC barsyC bookC eeroC eero-stageC heimdnsC
leapcellC websitebuilderC techC accesscamC aeC altervistaC barsyC blogdnsC blogsiteC bmoattachmentsC
boldlygoingnowhereC cable-modemC camdvrC cdn77P2D=00008 cdn77-secureP2D=8000@ cloudnsC collegefanC
couchpotatofriesC ddnssC dnsaliasC dnsdojoC doesntexistC dontexistC doomdnsC dpdnsC dsmynasC duckdnsC dvrdnsC
dynaliasC dyndnsS2D=H000: dynservC endofinternetC endoftheinternetC euS2D>2006E familydsC fedorainfracloudC
fedorapeopleC fedoraprojectP2DDG0010 freeddnsC freedesktopC from-meC fspagesC game-hostC gotdnsC hatenadiaryC
hepforgeC hkC hobby-siteC homednsC homeftpC homelinuxC homeunixC hoptoC httpbinC in-dslC in-vpnC ip-dynamicC
is-a-bruinsfanC is-a-candidateC is-a-celticsfanC is-a-chefC is-a-geekC is-a-knightC is-a-linux-userC
is-a-patsfanC is-a-soxfanC is-foundC is-localC is-lostC is-savedC is-very-badC is-very-evilC is-very-goodC
is-very-niceC is-very-sweetC isa-geekC jpnC jsC kicks-assC misconfusedC mlbfanC my-firewallC myfirewallC
myftpC mysecuritycameraC mywireC nflfanC no-ipC now-dnsC pimientaC podzoneC poivronC potagerC pubtlsC
read-booksC readmyblogC routingthecloudC roxaC selfipC sellsyourhomeC servebbsC serveftpC servegameC
small-webC spdnsC stuff-4-saleC sweetpepperC teckidsP2DEG0004 toolforgeC tunkC tuxfamilyC twmailC ufcfanC usC
webhopC webredirectC wmcloudS2DEK0006 wmflabsC zaC zaptoC nerdpolC aboA acA comA eduA gobA ingA medA netA
nomA orgA sldA aemC codebergC deuxfleursC heyflowC hlxC myboxC pdnsC pleskC prvcyC rockyC statichostC comA
eduA gobA milA netA nomA orgA comA eduA orgA cloudnsC comA eduA govA iA milA netA ngoA orgA framerC 1337C
ngrokC acA bizA comA eduA famA gkpA gobA gogA gokA gopA gosA govA netA orgA webA agroA aidA artC atmA
augustowA autoA babia-goraA bedzinA beepC beskidyA bialowiezaA bialystokA bielawaA bielskoC bieszczadyA bizA
boleslawiecA bydgoszczA bytomA cfolksC cieszynA coC comA czeladzA czestA dfirmaC dkontoC dlugolekaA
ecommerce-shopC eduA elblagA elkA gdaC gdanskC gdyniaC gliwiceC glogowA gminaA gnieznoA gorliceA govQ2DF1009=
grajewoA gsmA homesklepC ilawaA infoA iqhsC jaworznoA jelenia-goraA jgoraA kaliszA karpaczA kartuzyA kaszubyA
katowiceA kazimierz-dolnyA kepnoA ketrzynA klodzkoA kobierzyceA kolobrzegA koninA konskowolaA krakowC
krasnikC kutnoA lapyA leborkA lecznaC legnicaA lezajskA limanowaA lodzC lomzaA lowiczA lubartowC lubinA
lublinC lukowA mailA malborkA malopolskaA mazowszeA mazuryA medC mediaA miastaA mielecA mielnoA milA mragowoA
myspreadshopC nakloA netA nieruchomosciA nomA nowarudaA nysaA olawaA oleckoA olkuszA olsztynA opocznoA opoleA
orgA ostrodaA ostrolekaA ostrowiecA ostrowwlkpA pabianiceC pcA pilaA piszA plockC podhaleA podlasieA
polkowiceA pomorskieA pomorzeA poniatowaC powiatA poznanC privA prochowiceA pruszkowA przeworskA pulawyA
radomA rawa-mazA realestateA relA rybnikA rzeszowA sanokA sdscloudC sejnyA sexA shopA shoparenaC sieradzC
simplesiteC skierniewiceC sklepA skoczowA slaskA slupskA sopotC sosA sosnowiecA stalowa-wolaA starachowiceA
stargardA suwalkiA swidnicaA swidnikC swiebodzinA swinoujscieA szczecinA szczytnoA szkolaA targiA tarnobrzegA
tgoryA tmA torunC tourismA travelA turekA turystykaA tychyA unicloudC ustkaA walbrzychA warmiaA warszawaA
wawA wegrowA wielunA wloclA wloclawekA wodzislawA wolominA wrocC wroclawA you2C zachpomorA zaganA zakopaneC
zarowA zgierzC zgoraA zgorzelecA coC playitS2DO>000: nameC ownC coA eduA govA netA orgA acA bizA comA eduA
estA govA infoA islaA nameA netA orgA proA profA aaaA acaA acctA avocatA barA barsyC cloudnsC cpaA engA jurA
keeneticC lawA medA ngrokC rechtA comA eduA govA netA orgA ploA secA 123paginawebC comA eduA govA intA netA
nomeA orgA publA barsyC idF kinF cloudnsC govA x443C comA coopA eduA govA milA netA orgA comA eduA govA milA
nameA netA orgA schA assoA canC comA netlibC aemC clanC artsA barsyC coC comA firmA infoA nomA ntA orgA recA
shopC storeA tmA wwwA lima-cityC myddnsC stackitC webspaceC acA barsyC brendlyP2DOH0006 coA eduA govA inA
orgA oxC acC adygeyaC bashkiriaC birC cbgC cldmailP2DON0004 comC dagestanC eduC eurodirC govC groznyC intC
kalmykiaC kustanaiC marineC mcdirS2E020005 mcpreC milC mircloudC mordoviaC mskC myjinoS2E070011 mytisC na4uC
nalchikC netC novC orgC ppC pyatigorskC rasC spbC vladikavkazC vladimirC appwriteF buildF canvaC cloudC codeF
databaseF developmentC liaraS2E180006 lovableC migrationF needleC onporterC ravendbC replC stackitC
valS2E1>0005 vercelC wixC acA coA coopA govA milA netA orgA comA eduA govA medA netA orgA pubA schA comA eduA
govA netA orgA comA eduA govA netA orgA coC govS2E1C0009 meC mygovC orgC comA eduA govA infoA medA netA orgA
tvA 123minsidaC aA acA bA bdA brandA cA comC dA eA fA fhA fhskA fhvA gA hA iA iopsysC itcouldbeworC kA
komforbA kommunalforbundA komvuxA lA lanbibA mA myspreadshopC nA naturbruksgymnA oA orgA pA partiA ppA pressA
rA sA tA tmA uA wA xA yA zA loginlineC comA eduA enscaledC govA netA orgA botdaC comA govA hashbangC lovableC
milA netA nowC orgA platformP2E1L000= surgeC teleportC barsyC barsyonlineC baseC hoplixC shopwareC msC f5C
gitpageC barsyC byenC caffeineC canvaP2E290004 chatgptC clouderaF coC convexS2E2=000F cpanelC cyonC fastvpsC
figmaC figma-govC heyflowC jeleC jouwwebC loginlineC madethisC notionC novecoreC omniweC opensocialC pieboxC
platformshF playcodeC previewC puterC scwS2E33000: solC sourcecraftC squareC srhtC supportC tstF wpsquaredC
orgA comA eduA govA netA orgA artA comA eduA gouvA orgA univA comA eduA govA meA netA orgA surveysC
app-ionosC deployagentC heiyuC hfS2E3=0008 myfastC projectC uberC vibehostC xs4allC bizA coA comA eduA govA
meA netA orgA schA cnF coA comA consuladoA eduA embaixadaA heliohoC kiraraC milA netA nohoC orgA principeA
saotomeA storeA barsyC sellfyC shopwareC storebaseC aiC abkhaziaC adygeyaC aktyubinskC arkhangelskC armeniaC
ashgabadC azerbaijanC balashovC bashkiriaC bryanskC bukharaC chimkentC dagestanC east-kazakhstanC exnetC
georgiaC groznyC ivanovoC jambylC kalmykiaC kalugaC karacolC karagandaC kareliaC khakassiaC krasnodarC
kurganC kustanaiC lenugC mangyshlakC mordoviaC mskC murmanskC nalchikC navoiC north-kazakhstanC novC obninskC
penzaC pokrovskC sochiC spbC tashkentC termezC togliattiC troitskC tselinogradC tulaC tuvaC vladikavkazC
vladimirC vologdaC barsyC comA eduA gobA orgA redA govA comA eduA govA milA netA orgA mirenC acA coA orgA
discourseC jelasticC cleverappsC coC schC acA coA goA inA miA netA onlineC orA shopC bizA coA comA eduA goA
govA intA milA nameA netA nicA orgA testA webA govA coA comA eduA govA milA netA nomA orgA comA ensA finA
govA indA infoA intlA mincomA natA netA orangecloudC orgA persoA tourismA 611C comA eduA govA milA netA nettC
orgA quickconnectP2E3E0008 vpnplusC x0C prequalifymeC addrP2E3M0005 myaddrC ntdllC wadlF avA bbsA belA bizA
comA drA eduA genA govA infoA k12A kepA milA nameA ncQ2E420005 netA orgA polA telA tskA tvA webA bizA coA
comA eduA govA infoA milA nameA netA orgA proA better-thanC dyndnsC fromC on-the-webC sakuraC worse-thanC
clubA comQ2E47000: ebizA eduA gameA govA idvA milA mydnsC netA orgA urlC acA coA goA hotelA infoA meA milA
mobiA neA orA scA tvA bizC ccC cherkassyA cherkasyA chernigovA chernihivA chernivtsiA chernovtsyA ckA cnA coC
comA crA crimeaA cvA cxC dnA dnepropetrovskA dnipropetrovskA donetskA dpA eduA govA ifA inA infC
ivano-frankivskA khA kharkivA kharkovA khersonA khmelnitskiyA khmelnytskyiA kievA kirovogradA kmA krA
kropyvnytskyiA krymA ksA kvA kyivA lgA ltA ltdC luganskA luhanskA lutskA lvA lvivA mkA mykolaivA netA
nikolaevA odA odesaA odessaA orgA plA poltavaA ppC rivneA rovnoA rvA sbA sebastopolA sevastopolA smA sumyA
teA ternopilA uzA uzhgorodA uzhhorodA vC vinnicaA vinnytsiaA vnA volynA yaltaA zakarpattiaA zaporizhzheA
zaporizhzhiaA zhitomirA zhytomyrA zpA ztA acA coA comA eduA goA govA milA neA orA orgA scA usA acA barsyC
coQ2E4A0030 connC coproC govQ2E7A000H hospC independent-commissionC independent-inquestC independent-inquiryC
independent-panelC independent-reviewC ltdA meA netA nhsA nimsiteC oraclegovcloudappsF orgQ2E89001N plcA
policeA public-inquiryC pymntC royal-commissionC schD akQ2E:7000> alQ2E:E000> arQ2E;3000> asQ2E;A000>
azQ2E;O000> azure-apiC azurewebsitesC caQ2E<=000> cloudnsC coQ2E<K000> ctQ2E=9000> databricksappsP2E=G0009
dcQ2E>0000> deQ2E>>0004 dniA enscaledP2E>B0005 flQ2E>G000> freeddnsC gaQ2E?5000> golffanC guQ2E?C000>
heliohostC hiQ2E@10009 iaQ2E@:000> idQ2E@H000> ilQ2EA6000> inQ2EAD000> is-byC isaA ksQ2EB2000> kyQ2EB@000>
laQ2EBN000> land-4-saleC maQ2EC<000F mdQ2ED2000> meQ2ED@000> miQ2EDN0024 mircloudC mnQ2EG2000> moQ2EG@000>
msQ2EGN0009 mtQ2EH7000> ncQ2EHE000> ndA neQ2EI3000> ngoC nhQ2EIA000> njQ2EIO000> nmQ2EJ=000> noipC nsnA
nvQ2EJK000> nyQ2EK9000> ohQ2EKG000> okQ2EL5000> orQ2ELC000> paQ2EM1000> pointtoC prQ2EM?000> riQ2EMM0009
scQ2EN6000> sdQ2END0009 servernameC srvS2ENM0008 stuff-4-saleC tnQ2EO5000> txQ2EOC000> utQ2F01000>
vaQ2F0?000> viQ2F0M000> vtQ2F1;000> waQ2F1I008E wiQ2F:>000> wvQ2F:L0004 wyQ2F;0000> comA eduA gubA gvC milA
netA orgA coA comA netA orgA 0eF comA eduA govA gvS2F;>0003 milA mydnsC netA orgA artsA bibA coA comA e12A
eduA emprendeA firmA gobA govA iaA infoA intA milA netA nomA orgA rarA recA storeA tecA webA eduA coA comA
k12A netA orgA hidnsC acA aiA angiangA bacgiangA backanA baclieuA bacninhA baria-vungtauA bentreA binhdinhA
binhduongA binhphuocA binhthuanA bizA camauA canthoA caobangA comA daklakA daknongA danangA dienbienA
dongnaiA dongthapA eduA gialaiA govA hagiangA haiduongA haiphongA hanamA hanoiA hatinhA haugiangA healthA
hoabinhA hueA hungyenA idA infoA intA ioA khanhhoaA kiengiangA kontumA laichauA lamdongA langsonA laocaiA
longanA namdinhA nameA netA ngheanA ninhbinhA ninhthuanA orgA phuthoA phuyenA proA quangbinhA quangnamA
quangngaiA quangninhA quangtriA soctrangA sonlaA tayninhA thaibinhA thainguyenA thanhhoaA thanhphohochiminhA
thuathienhueA tiengiangA travinhA tuyenquangA vinhlongA vinhphucA yenbaiA comA eduA netA orgA framerC bizC
schC framerC imagine-proxyC puterC advisorF cloud66C comA dyndnsC eduA govA mypetsC netA orgA ddnsC
xn--4dbgdty6cA xn--5dbhl8dA xn--8dbq2aA xn--hebda8bA xn--80auA xn--90azhA xn--c1avgA xn--d1atA xn--o1acA
xn--o1achA xn--55qx5dA xn--gmqw5aA xn--mxtq1mA xn--od0algA xn--uc0atvA xn--wcvs22dA xn--12c1fe0brA
xn--12cfi8ixb8lA xn--12co0c3b4evaA xn--h3cuzk1diA xn--m3ch0j3aA xn--o3cyx2aA xn--41aC xn--80aaa0cvacC
xn--90a1afC xn--90amcC xn--c1avgC xn--h1ahnC xn--h1alizC xn--j1adpC xn--j1aefC xn--j1ael8bC botdashC
caffeineC exeC opentunnelC telebitF comA eduA govA milA netA orgA orgC acA agricA altA coA eduA govA grondarA
lawA milA netA ngoA nicA nisA nomA orgA schoolA tmA webA acA bizA coA comA eduA govA infoA milA netA orgA
schA limaC prg1-zeropsC stackitC tritonF zeropsF acA coA govA milA orgA sF previewC frontendC relayC onC
stagingS2F;A0004 upC idC mtlsF privatelinkF cloudV2F;E000; sthA wienC exF inF exF kundenF cloudletsP2F<00005
myspreadshopC actA catholicA nswA ntA qldA saA tasA vicA waA qldA saA tasA vicA waA af-south-1P2F<50016
ap-east-1P2F=;0016 ap-east-2P2F>A000A ap-northeast-1P2F?20016 ap-northeast-2P2F@80016 ap-northeast-3P2FA>0016
ap-south-1P2FBD0016 ap-south-2P2FCJ000J ap-southeast-1P2FDD0016 ap-southeast-2P2FEJ0016
ap-southeast-3P2FG00016 ap-southeast-4P2FH6000J ap-southeast-5P2FI0000J ap-southeast-6P2FIJ000A
ap-southeast-7P2FJ;000J ca-central-1P2FK50016 ca-west-1P2FL;000J eu-central-1P2FM50016 eu-central-2P2FN;000J
eu-north-1P2FO50016 eu-south-1P2G0;0016 eu-south-2P2G1A000J eu-west-1P2G2;0016 eu-west-2P2G3A0016
eu-west-3P2G4G0016 il-central-1P2G5M000J me-central-1P2G6G000J me-south-1P2G7A0016 mx-central-1P2G8G000A
sa-east-1P2G980016 us-east-1P2G:>0016 us-east-2P2G;D0016 us-gov-east-1P2G<J0017 us-gov-west-1P2G>10017
us-west-1P2G?80016 us-west-2P2G@>0016 privateF af-south-1P2GAD000B ap-east-1P2GB6000B ap-northeast-1P2GBH000L
ap-northeast-2P2GCD000L ap-northeast-3P2GD@000B ap-south-1P2GE2000L ap-south-2P2GEN000:
ap-southeast-1P2GF8000L ap-southeast-2P2GG4000L ap-southeast-3P2GH0000B ap-southeast-4P2GHB000:
ca-central-1P2GHL001; ca-west-1P2GJ7000I eu-central-1P2GK0000L eu-central-2P2GKL000B eu-north-1P2GL>000B
eu-south-1P2GM0000B eu-south-2P2GMB000B eu-west-1P2GN4000L eu-west-2P2GO0000L eu-west-3P2GOL000B experimentsF
il-central-1P2H0>000B me-central-1P2H10000B me-south-1P2H1B000B sa-east-1P2H24000B us-east-1P2H2F001;
us-east-2P2H41001; us-gov-east-1P2H5<001> us-gov-west-1P2H6J001> us-west-1P2H880011 us-west-2P2H99001; shopC
cloudC ezproxyC siteC simplesiteC acA alA amA apA baA ceA dfA esA goA maA mgA msA mtA paA pbA peA piA prA rjA
rnA roA rrA rsA scA seA spA toA acC alC amC apC baC ceC dfC esC goC maC mgC msC mtC paC pbC peC piC prC rjC
rnC roC rrC rsC scC seC spC toC atC uiC instancesC custC lpgP2H:D0009 rmaP2H:M0009 svcF aeP2H;60006
appengineC lpgC rmaC es-1C eu-west-1C us-east-1C euC vipC arubaP2H;<000= it1C elasticC ru-mskP2H;I000A
ru-spbP2H<:000A s3C websiteC csC runsC tnC ukC ukC caC ukC usC baremetalP2H<K000N fr-parP2H=I002O
instancesP2H@H000; k8sC nl-amsP2HA3002B pl-wawP2HCE002= scalebookC smartlabelingC chC deC myC
amazonawsP2HF2002G amazonwebservicesP2HHI000< sagemakerP2HI5001< directC asC idC clustersF srvrlessF idC
realtimeC storageC devF af-south-1P2HJA0058 airflowP2HOI00<H ap-east-1P2I<A0058 ap-northeast-1P2IAI006F
ap-northeast-2P2IH?006F ap-northeast-3P2IO50058 ap-south-1P2J4=006F ap-south-2P2J;3004O
ap-southeast-1P2J@2006F ap-southeast-2P2JFH006F ap-southeast-3P2JM>0044 ap-southeast-4P2K1B0044
ap-southeast-5P2K5F003L ap-southeast-7P2K9B000K ca-central-1P2K:=0071 ca-west-1P2KA>0052 computeF compute-1F
elbF eu-central-1P2KF@006F eu-central-2P2KM60044 eu-north-1P2L1:0063 eu-south-1P2L7=0063 eu-south-2P2L=@004O
eu-west-1P2LB?0075 eu-west-2P2LID0063 eu-west-3P2LOG0063 il-central-1P2M5J0058 me-central-1P2M;20044
me-south-1P2M?60058 rdsP2MD>00>; s3C s3-1C s3-ap-east-1C s3-ap-northeast-1C s3-ap-northeast-2C
s3-ap-northeast-3C s3-ap-south-1C s3-ap-southeast-1C s3-ap-southeast-2C s3-ca-central-1C s3-eu-central-1C
s3-eu-north-1C s3-eu-west-1C s3-eu-west-2C s3-eu-west-3C s3-external-1C s3-fips-us-gov-east-1C
s3-fips-us-gov-west-1C s3-globalP2N2I000E s3-me-south-1C s3-sa-east-1C s3-us-east-2C s3-us-gov-east-1C
s3-us-gov-west-1C s3-us-west-1C s3-us-west-2C s3-website-ap-northeast-1C s3-website-ap-southeast-1C
s3-website-ap-southeast-2C s3-website-eu-west-1C s3-website-sa-east-1C s3-website-us-east-1C
s3-website-us-gov-west-1C s3-website-us-west-1C s3-website-us-west-2C sa-east-1P2N3>0063 us-east-1S2N9A0083
us-east-2P2NAD0083 us-gov-east-1P2NIG0052 us-gov-west-1P2NNI005M us-west-1P2O4F0071 us-west-2P2O;G0083
af-south-1P2OCJ0006 ap-east-1P2OD00006 ap-east-2P2OD60006 ap-northeast-1P2OD<0006 ap-northeast-2P2ODB0006
ap-northeast-3P2ODH0006 ap-south-1P2ODN0006 ap-south-2P2OE40006 ap-southeast-1P2OE:0006
ap-southeast-2P2OE@0006 ap-southeast-3P2OEF0006 ap-southeast-4P2OEL0006 ap-southeast-5P2OF20006
ap-southeast-6P2OF80006 ap-southeast-7P2OF>0006 ca-central-1P2OFD0006 ca-west-1P2OFJ0006
eu-central-1P2OG00006 eu-central-2P2OG60006 eu-north-1P2OG<0006 eu-south-1P2OGB0006 eu-south-2P2OGH0006
eu-west-1P2OGN0006 eu-west-2P2OH40006 eu-west-3P2OH:0006 il-central-1P2OH@0006 me-central-1P2OHF0006
me-south-1P2OHL0006 mx-central-1P2OI20006 sa-east-1P2OI80006 us-east-1P2OI>000A us-east-2P2OIO000A
us-gov-east-1P2OJ@000; us-gov-west-1P2OJK000; us-west-1P2OK6000A us-west-2P2OKG000A csP2OL8007H rF frameC
servicesF builderF dev-builderF stg-builderF ociF ocpF ocsF awsC azureF gcpC demoC instanceC af-south-1C
ap-east-1C ap-northeast-1C ap-northeast-2C ap-northeast-3C ap-south-1C ap-south-2C ap-southeast-1C
ap-southeast-2C ap-southeast-3C ap-southeast-4C ap-southeast-5C ap-southeast-6C ap-southeast-7C ca-central-1C
ca-west-1C eu-central-1C eu-central-2C eu-north-1C eu-south-1C eu-south-2C eu-west-1C eu-west-2C eu-west-3C
il-central-1C me-central-1C me-south-1C sa-east-1C us-east-1C us-east-2C us-gov-east-1C us-gov-west-1C
us-west-1C us-west-2C previewC eu-1C eu-2C eu-3C eu-4C us-1C us-2C us-3C us-4C appsC objectP3040000<
privateP304<000@ krC kr-privateC objectP304L000I privateP305E000@ computeF paasC rag-cloudC rag-cloud-chC
jcloudC jcloud-ver-jpcC demoC membersC nodebalancerF ipC paasC euC caracalC customerC fentigerC lynxC ocelotC
oncillaC onzaC sphinxC vsC xC yaliC objectstorageP30650008 krC kr-naverC kr-naver-devC kr-privateC
objectP306=001@ privateP307M000@ websiteP308=000L objectP3099001A privateP30:J000@ cloudS30;:0006 staticC
xenC devC euC appC platformP30;@000J mediaC siteC proC jedC rydC pagesC jsC scaleforceP30<:0003 rscC cloudF
customC cloudP30<=000: dynC dynC dyndnsC dynC itP30<G000G nocP30=>0004 customerC sF aaF abF acF adF aeF afF
ciF dF paF pbF pcF pdF peF pfF wF waF wbF wcF wdF weF wfF webC relayC userF apiC objectsC teamsF t3C t3C
git-pagesC pC pC onP30=B000H jelasticC userC fiC daemonC atF d6C shopC mytabitC ravpageC tabitorderC ltdA
plcA paasC sekd1C sF cdnC dyndnsC idC rawF rawF appsC apC auC euC inC jpC saC usC stageC mockC sysF siteC
devicesC clientC devP30>:000? disrecP30>I000? prodP30?80006 testingP30?>000? jcC aisaiA amaA anjoA asukeA
chiryuA chitaA fusoA gamagoriA handaA hazuA hekinanA higashiuraA ichinomiyaA inazawaA inuyamaA isshikiA
iwakuraA kanieA kariyaA kasugaiA kiraA kiyosuA komakiA konanA kotaA mihamaA miyoshiA nishioA nisshinA obuA
oguchiA oharuA okazakiA owariasahiA setoA shikatsuA shinshiroA shitaraA taharaA takahamaA tobishimaA toeiA
togoA tokaiA tokonameA toyoakeA toyohashiA toyokawaA toyoneA toyotaA tsushimaA yatomiA akitaA daisenA
fujisatoA gojomeA hachirogataA happouA higashinaruseA honjoA honjyoA ikawaA kamikoaniA kamiokaA katagamiA
kazunoA kitaakitaA kosakaA kyowaA misatoA mitaneA moriyoshiA nikahoA noshiroA odateA ogaA ogataA sembokuA
yokoteA yurihonjoA aomoriA gonoheA hachinoheA hashikamiA hiranaiA hirosakiA itayanagiA kuroishiA misawaA
mutsuA nakadomariA nohejiA oiraseA owaniA rokunoheA sannoheA shichinoheA shingoA takkoA towadaA tsugaruA
tsurutaA abikoA asahiA chonanA choseiA choshiA chuoA funabashiA futtsuA hanamigawaA ichiharaA ichikawaA
ichinomiyaA inzaiA isumiA kamagayaA kamogawaA kashiwaA katoriA katsuuraA kimitsuA kisarazuA kozakiA kujukuriA
kyonanA matsudoA midoriA mihamaA minamibosoA mobaraA mutsuzawaA nagaraA nagareyamaA narashinoA naritaA nodaA
oamishirasatoA omigawaA onjukuA otakiA sakaeA sakuraA shimofusaA shirakoA shiroiA shisuiA sodegauraA sosaA
takoA tateyamaA toganeA tohnoshoA tomisatoA urayasuA yachimataA yachiyoA yokaichibaA yokoshibahikariA
yotsukaidoA ainanA honaiA ikataA imabariA iyoA kamijimaA kihokuA kumakogenA masakiA matsunoA matsuyamaA
namikataA niihamaA ozuA saijoA seiyoA shikokuchuoA tobeA toonA uchikoA uwajimaA yawatahamaA echizenA eiheijiA
fukuiA ikedaA katsuyamaA mihamaA minamiechizenA obamaA ohiA onoA sabaeA sakaiA takahamaA tsurugaA wakasaA
ashiyaA buzenA chikugoA chikuhoA chikujoA chikushinoA chikuzenA chuoA dazaifuA fukuchiA hakataA higashiA
hirokawaA hisayamaA iizukaA inatsukiA kahoA kasugaA kasuyaA kawaraA keisenA kogaA kurateA kurogiA kurumeA
minamiA miyakoA miyamaA miyawakaA mizumakiA munakataA nakagawaA nakamaA nishiA nogataA ogoriA okagakiA okawaA
okiA omutaA ongaA onojoA otoA saigawaA sasaguriA shinguA shinyoshitomiA shonaiA soedaA sueA tachiaraiA
tagawaA takataA tohoA toyotsuA tsuikiA ukihaA umiA usuiA yamadaA yameA yanagawaA yukuhashiA aizubangeA
aizumisatoA aizuwakamatsuA asakawaA bandaiA dateA fukushimaA furudonoA futabaA hanawaA higashiA hirataA
hironoA iitateA inawashiroA ishikawaA iwakiA izumizakiA kagamiishiA kaneyamaA kawamataA kitakataA
kitashiobaraA kooriA koriyamaA kunimiA miharuA mishimaA namieA nangoA nishiaizuA nishigoA okumaA omotegoA
onoA otamaA samegawaA shimogoA shirakawaA showaA somaA sukagawaA taishinA tamakawaA tanaguraA teneiA yabukiA
yamatoA yamatsuriA yanaizuA yugawaA anpachiA enaA gifuA ginanA godoA gujoA hashimaA hichisoA hidaA
higashishirakawaA ibigawaA ikedaA kakamigaharaA kaniA kasaharaA kasamatsuA kawaueA kitagataA minoA minokamoA
mitakeA mizunamiA motosuA nakatsugawaA ogakiA sakahogiA sekiA sekigaharaA shirakawaA tajimiA takayamaA taruiA
tokiA tomikaA wanouchiA yamagataA yaotsuA yoroA annakaA chiyodaA fujiokaA higashiagatsumaA isesakiA itakuraA
kannaA kanraA katashinaA kawabaA kiryuA kusatsuA maebashiA meiwaA midoriA minakamiA naganoharaA nakanojoA
nanmokuA numataA oizumiA oraA otaA shibukawaA shimonitaA shintoA showaA takasakiA takayamaA tamamuraA
tatebayashiA tomiokaA tsukiyonoA tsumagoiA uenoA yoshiokaA asaminamiA daiwaA etajimaA fuchuA fukuyamaA
hatsukaichiA higashihiroshimaA hongoA jinsekikogenA kaitaA kuiA kumanoA kureA miharaA miyoshiA nakaA
onomichiA osakikamijimaA otakeA sakaA seraA seranishiA shinichiA shobaraA takeharaA abashiriA abiraA aibetsuA
akabiraA akkeshiA asahikawaA ashibetsuA ashoroA assabuA atsumaA bibaiA bieiA bifukaA bihoroA biratoriA
chippubetsuA chitoseA dateA ebetsuA embetsuA eniwaA erimoA esanA esashiA fukagawaA fukushimaA furanoA
furubiraA haboroA hakodateA hamatonbetsuA hidakaA higashikaguraA higashikawaA hirooA hokuryuA hokutoA
honbetsuA horokanaiA horonobeA ikedaA imakaneA ishikariA iwamizawaA iwanaiA kamifuranoA kamikawaA
kamishihoroA kamisunagawaA kamoenaiA kayabeA kembuchiA kikonaiA kimobetsuA kitahiroshimaA kitamiA kiyosatoA
koshimizuA kunneppuA kuriyamaA kuromatsunaiA kushiroA kutchanA kyowaA mashikeA matsumaeA mikasaA
minamifuranoA mombetsuA moseushiA mukawaA muroranA naieA nakagawaA nakasatsunaiA nakatombetsuA nanaeA
nanporoA nayoroA nemuroA niikappuA nikiA nishiokoppeA noboribetsuA numataA obihiroA obiraA oketoA okoppeA
otaruA otobeA otofukeA otoineppuA oumuA ozoraA pippuA rankoshiA rebunA rikubetsuA rishiriA rishirifujiA
saromaA sarufutsuA shakotanA shariA shibechaA shibetsuA shikabeA shikaoiA shimamakiA shimizuA shimokawaA
shinshinotsuA shintokuA shiranukaA shiraoiA shiriuchiA sobetsuA sunagawaA taikiA takasuA takikawaA takinoueA
teshikagaA tobetsuA tohmaA tomakomaiA tomariA toyaA toyakoA toyotomiA toyouraA tsubetsuA tsukigataA urakawaA
urausuA uryuA utashinaiA wakkanaiA wassamuA yakumoA yoichiA aioiA akashiA akoA amagasakiA aogakiA asagoA
ashiyaA awajiA fukusakiA goshikiA harimaA himejiA ichikawaA inagawaA itamiA kakogawaA kamigoriA kamikawaA
kasaiA kasugaA kawanishiA mikiA minamiawajiA nishinomiyaA nishiwakiA onoA sandaA sannanA sasayamaA sayoA
shinguA shinonsenA shisoA sumotoA taishiA takaA takarazukaA takasagoA takinoA tambaA tatsunoA toyookaA yabuA
yashiroA yokaA yokawaA amiA asahiA bandoA chikuseiA daigoA fujishiroA hitachiA hitachinakaA hitachiomiyaA
hitachiotaA ibarakiA inaA inashikiA itakoA iwamaA josoA kamisuA kasamaA kashimaA kasumigauraA kogaA mihoA
mitoA moriyaA nakaA namegataA oaraiA ogawaA omitamaA ryugasakiA sakaiA sakuragawaA shimodateA shimotsumaA
shirosatoA sowaA suifuA takahagiA tamatsukuriA tokaiA tomobeA toneA torideA tsuchiuraA tsukubaA uchiharaA
ushikuA yachiyoA yamagataA yawaraA yukiA anamizuA hakuiA hakusanA kagaA kahokuA kanazawaA kawakitaA komatsuA
nakanotoA nanaoA nomiA nonoichiA notoA shikaA suzuA tsubataA tsurugiA uchinadaA wajimaA fudaiA fujisawaA
hanamakiA hiraizumiA hironoA ichinoheA ichinosekiA iwaizumiA iwateA jobojiA kamaishiA kanegasakiA karumaiA
kawaiA kitakamiA kujiA kunoheA kuzumakiA miyakoA mizusawaA moriokaA ninoheA nodaA ofunatoA oshuA otsuchiA
rikuzentakataA shiwaA shizukuishiA sumitaA tanohataA tonoA yahabaA yamadaA ayagawaA higashikagawaA kanonjiA
kotohiraA mannoA marugameA mitoyoA naoshimaA sanukiA tadotsuA takamatsuA tonoshoA uchinomiA utazuA zentsujiA
akuneA amamiA hiokiA isaA isenA izumiA kagoshimaA kanoyaA kawanabeA kinkoA kouyamaA makurazakiA matsumotoA
minamitaneA nakataneA nishinoomoteA satsumasendaiA sooA tarumizuA yusuiA aikawaA atsugiA ayaseA chigasakiA
ebinaA fujisawaA hadanoA hakoneA hiratsukaA iseharaA kaiseiA kamakuraA kiyokawaA matsudaA minamiashigaraA
miuraA nakaiA ninomiyaA odawaraA oiA oisoA sagamiharaA samukawaA tsukuiA yamakitaA yamatoA yokosukaA
yugawaraA zamaA zushiA cityH cityH cityH akiA geiseiA hidakaA higashitsunoA inoA kagamiA kamiA kitagawaA
kochiA miharaA motoyamaA murotoA nahariA nakamuraA nankokuA nishitosaA niyodogawaA ochiA okawaA otoyoA
otsukiA sakawaA sukumoA susakiA tosaA tosashimizuA toyoA tsunoA umajiA yasudaA yusuharaA amakusaA araoA asoA
choyoA gyokutoA kamiamakusaA kikuchiA kumamotoA mashikiA mifuneA minamataA minamioguniA nagasuA nishiharaA
oguniA ozuA sumotoA takamoriA ukiA utoA yamagaA yamatoA yatsushiroA ayabeA fukuchiyamaA higashiyamaA ideA
ineA joyoA kameokaA kamoA kitaA kizuA kumiyamaA kyotambaA kyotanabeA kyotangoA maizuruA minamiA
minamiyamashiroA miyazuA mukoA nagaokakyoA nakagyoA nantanA oyamazakiA sakyoA seikaA tanabeA ujiA ujitawaraA
wazukaA yamashinaA yawataA asahiA inabeA iseA kameyamaA kawagoeA kihoA kisosakiA kiwaA komonoA kumanoA
kuwanaA matsusakaA meiwaA mihamaA minamiiseA misugiA miyamaA nabariA shimaA suzukaA tadoA taikiA takiA
tamakiA tobaA tsuA udonoA ureshinoA wataraiA yokkaichiA furukawaA higashimatsushimaA ishinomakiA iwanumaA
kakudaA kamiA kawasakiA marumoriA matsushimaA minamisanrikuA misatoA murataA natoriA ogawaraA ohiraA onagawaA
osakiA rifuA semineA shibataA shichikashukuA shikamaA shiogamaA shiroishiA tagajoA taiwaA tomeA tomiyaA
wakuyaA watariA yamamotoA zaoA ayaA ebinoA gokaseA hyugaA kadogawaA kawaminamiA kijoA kitagawaA kitakataA
kitauraA kobayashiA kunitomiA kushimaA mimataA miyakonojoA miyazakiA morotsukaA nichinanA nishimeraA nobeokaA
saitoA shiibaA shintomiA takaharuA takanabeA takazakiA tsunoA achiA agematsuA ananA aokiA asahiA azuminoA
chikuhokuA chikumaA chinoA fujimiA hakubaA haraA hirayaA iidaA iijimaA iiyamaA iizunaA ikedaA ikusakaA inaA
karuizawaA kawakamiA kisoA kisofukushimaA kitaaikiA komaganeA komoroA matsukawaA matsumotoA miasaA
minamiaikiA minamimakiA minamiminowaA minowaA miyadaA miyotaA mochizukiA naganoA nagawaA nagisoA nakagawaA
nakanoA nozawaonsenA obuseA ogawaA okayaA omachiA omiA ookuwaA ooshikaA otakiA otariA sakaeA sakakiA sakuA
sakuhoA shimosuwaA shinanomachiA shiojiriA suwaA suzakaA takagiA takamoriA takayamaA tateshinaA tatsunoA
togakushiA toguraA tomiA uedaA wadaA yamagataA yamanouchiA yasakaA yasuokaA chijiwaA futsuA gotoA hasamiA
hiradoA ikiA isahayaA kawatanaA kuchinotsuA matsuuraA nagasakiA obamaA omuraA osetoA saikaiA saseboA seihiA
shimabaraA shinkamigotoA togitsuA tsushimaA unzenA cityH andoA goseA heguriA higashiyoshinoA ikarugaA ikomaA
kamikitayamaA kanmakiA kashibaA kashiharaA katsuragiA kawaiA kawakamiA kawanishiA koryoA kurotakiA mitsueA
miyakeA naraA nosegawaA ojiA oudaA oyodoA sakuraiA sangoA shimoichiA shimokitayamaA shinjoA soniA takatoriA
tawaramotoA tenkawaA tenriA udaA yamatokoriyamaA yamatotakadaA yamazoeA yoshinoA aseinetP30?M0006 gehirnC
ivoryC mail-boxC mintsC mokurenC opalC sakuraC sumomoC topazC agaA aganoA gosenA itoigawaA izumozakiA joetsuA
kamoA kariwaA kashiwazakiA minamiuonumaA mitsukeA muikaA murakamiA myokoA nagaokaA niigataA ojiyaA omiA sadoA
sanjoA seiroA seirouA sekikawaA shibataA tagamiA tainaiA tochioA tokamachiA tsubameA tsunanA uonumaA yahikoA
yoitaA yuzawaA beppuA bungoonoA bungotakadaA hasamaA hijiA himeshimaA hitaA kamitsueA kokonoeA kujuA
kunisakiA kusuA oitaA saikiA taketaA tsukumiA usaA usukiA yufuA akaiwaA asakuchiA bizenA hayashimaA ibaraA
kagaminoA kasaokaA kibichuoA kumenanA kurashikiA maniwaA misakiA nagiA niimiA nishiawakuraA okayamaA satoshoA
setouchiA shinjoA shooA sojaA takahashiA tamanoA tsuyamaA wakeA yakageA aguniA ginowanA ginozaA gushikamiA
haebaruA higashiA hiraraA iheyaA ishigakiA ishikawaA itomanA izenaA kadenaA kinA kitadaitoA kitanakagusukuA
kumejimaA kunigamiA minamidaitoA motobuA nagoA nahaA nakagusukuA nakijinA nanjoA nishiharaA ogimiA okinawaA
onnaA shimojiA taketomiA taramaA tokashikiA tomigusukuA tonakiA urasoeA urumaA yaeseA yomitanA yonabaruA
yonaguniA zamamiA abenoA chihayaakasakaA chuoA daitoA fujiideraA habikinoA hannanA higashiosakaA
higashisumiyoshiA higashiyodogawaA hirakataA ibarakiA ikedaA izumiA izumiotsuA izumisanoA kadomaA kaizukaA
kananA kashiwaraA katanoA kawachinaganoA kishiwadaA kitaA kumatoriA matsubaraA minatoA minohA misakiA
moriguchiA neyagawaA nishiA noseA osakasayamaA sakaiA sayamaA sennanA settsuA shijonawateA shimamotoA suitaA
tadaokaA taishiA tajiriA takaishiA takatsukiA tondabayashiA toyonakaA toyonoA yaoA ariakeA aritaA fukudomiA
genkaiA hamatamaA hizenA imariA kamimineA kanzakiA karatsuA kashimaA kitagataA kitahataA kiyamaA kouhokuA
kyuragiA nishiaritaA ogiA omachiA ouchiA sagaA shiroishiA takuA taraA tosuA yoshinogariA arakawaA asakaA
chichibuA fujimiA fujiminoA fukayaA hannoA hanyuA hasudaA hatogayaA hatoyamaA hidakaA higashichichibuA
higashimatsuyamaA honjoA inaA irumaA iwatsukiA kamiizumiA kamikawaA kamisatoA kasukabeA kawagoeA kawaguchiA
kawajimaA kazoA kitamotoA koshigayaA kounosuA kukiA kumagayaA matsubushiA minanoA misatoA miyashiroA miyoshiA
moroyamaA nagatoroA namegawaA niizaA oganoA ogawaA ogoseA okegawaA omiyaA otakiA ranzanA ryokamiA saitamaA
sakadoA satteA sayamaA shikiA shiraokaA sokaA sugitoA todaA tokigawaA tokorozawaA tsurugashimaA urawaA
warabiA yashioA yokozeA yonoA yoriiA yoshidaA yoshikawaA yoshimiA isk01P30@30004 isk02P30@70004 cityH cityH
aishoA gamoA higashiomiA hikoneA kokaA konanA koseiA kotoA kusatsuA maibaraA moriyamaA nagahamaA nishiazaiA
notogawaA omihachimanA otsuA rittoA ryuohA takashimaA takatsukiA torahimeA toyosatoA yasuA akagiA amaA gotsuA
hamadaA higashiizumoA hikawaA hikimiA izumoA kakinokiA masudaA matsueA misatoA nishinoshimaA ohdaA
okinoshimaA okuizumoA shimaneA tamayuA tsuwanoA unnanA yakumoA yasugiA yatsukaA araiA atamiA fujiA fujiedaA
fujikawaA fujinomiyaA fukuroiA gotembaA haibaraA hamamatsuA higashiizuA itoA iwataA izuA izunokuniA kakegawaA
kannamiA kawanehonA kawazuA kikugawaA kosaiA makinoharaA matsuzakiA minamiizuA mishimaA morimachiA nishiizuA
numazuA omaezakiA shimadaA shimizuA shimodaA shizuokaA susonoA yaizuA yoshidaA ashikagaA batoA hagaA ichikaiA
iwafuneA kaminokawaA kanumaA karasuyamaA kuroisoA mashikoA mibuA mokaA motegiA nasuA nasushiobaraA nikkoA
nishikataA nogiA ohiraA ohtawaraA oyamaA sakuraA sanoA shimotsukeA shioyaA takanezawaA tochigiA tsugaA ujiieA
utsunomiyaA yaitaA aizumiA ananA ichibaA itanoA kainanA komatsushimaA matsushigeA mimaA minamiA miyoshiA
mugiA nakagawaA narutoA sanagochiA shishikuiA tokushimaA wajikiA adachiA akirunoA akishimaA aogashimaA
arakawaA bunkyoA chiyodaA chofuA chuoA edogawaA fuchuA fussaA hachijoA hachiojiA hamuraA higashikurumeA
higashimurayamaA higashiyamatoA hinoA hinodeA hinoharaA inagiA itabashiA katsushikaA kitaA kiyoseA kodairaA
koganeiA kokubunjiA komaeA kotoA kouzushimaA kunitachiA machidaA meguroA minatoA mitakaA mizuhoA
musashimurayamaA musashinoA nakanoA nerimaA ogasawaraA okutamaA omeA oshimaA otaA setagayaA shibuyaA
shinagawaA shinjukuA suginamiA sumidaA tachikawaA taitoA tamaA toshimaA chizuA hinoA kawaharaA kogeA kotouraA
misasaA nanbuA nichinanA sakaiminatoA tottoriA wakasaA yazuA yonagoA asahiA fuchuA fukumitsuA funahashiA
himiA imizuA inamiA johanaA kamiichiA kurobeA nakaniikawaA namerikawaA nantoA nyuzenA oyabeA tairaA takaokaA
tateyamaA togaA tonamiA toyamaA unazukiA uozuA yamadaA aridaA aridagawaA goboA hashimotoA hidakaA hirogawaA
inamiA iwadeA kainanA kamitondaA katsuragiA kiminoA kinokawaA kitayamaA koyaA kozaA kozagawaA kudoyamaA
kushimotoA mihamaA misatoA nachikatsuuraA shinguA shirahamaA taijiA tanabeA wakayamaA yuasaA yuraA rsC userC
asahiA funagataA higashineA iideA kahokuA kaminoyamaA kaneyamaA kawanishiA mamurogawaA mikawaA murayamaA
nagaiA nakayamaA nanyoA nishikawaA obanazawaA oeA oguniA ohkuraA oishidaA sagaeA sakataA sakegawaA shinjoA
shiratakaA shonaiA takahataA tendoA tozawaA tsuruokaA yamagataA yamanobeA yonezawaA yuzaA abuA hagiA hikariA
hofuA iwakuniA kudamatsuA mitouA nagatoA oshimaA shimonosekiA shunanA tabuseA tokuyamaA toyotaA ubeA yuuA
chuoA doshiA fuefukiA fujikawaA fujikawaguchikoA fujiyoshidaA hayakawaA hokutoA ichikawamisatoA kaiA kofuA
koshuA kosugeA minami-alpsA minobuA nakamichiA nanbuA narusawaA nirasakiA nishikatsuraA oshinoA otsukiA
showaA tabayamaA tsuruA uenoharaA yamanakakoA yamanashiA cityH ipfsC ipfsC ipfsC seproxC siteC forgotC
forgotC prodP30@;0005 1C 2C 3C 4C 5C 6C 7C centralusC eastasiaC eastus2C westeuropeC westus2C
australiacentral-01C australiacentral2-01C australiaeast-01C australiasoutheast-01C austriaeast-01C
belgiumcentral-01C brazilsouth-01C brazilsoutheast-01C canadacentral-01C canadaeast-01C centralindia-01C
centralus-01C centraluseuap-01C chilecentral-01C denmarkeast-01C eastasia-01C eastasiastage-01C eastus-01C
eastus2-01C eastus2euap-01C eastus3-01C francecentral-01C francesouth-01C germanynorth-01C
germanywestcentral-01C indiasouthcentral-01C indonesiacentral-01C israelcentral-01C israelnorthwest-01C
italynorth-01C japaneast-01C japanwest-01C jioindiacentral-01C jioindiawest-01C koreacentral-01C
koreasouth-01C malaysiawest-01C mexicocentral-01C newzealandnorth-01C northcentralus-01C
northcentralusstage-01C northeastus5-01C northeurope-01C norwayeast-01C norwaywest-01C pF polandcentral-01C
qatarcentral-01C southafricanorth-01C southafricawest-01C southcentralus-01C southcentralus2-01C
southeastasia-01C southeastus5-01C southindia-01C spaincentral-01C swedencentral-01C swedensouth-01C
switzerlandnorth-01C switzerlandwest-01C taiwannorth-01C taiwannorthwest-01C uaecentral-01C uaenorth-01C
uksouth-01C ukwest-01C westcentralus-01C westeurope-01C westindia-01C westus-01C westus2-01C westus3-01C rC
uC cdnC cdnC cdnC cdnC fra1-deC west1-usC sandboxC jls-sto1C jls-sto2C jls-sto3C freetlsC mapC prodP30@@000;
sslP30@K000> mapC vpsC paasP30A90016 snC hostingF webpaasF jelasticC nordeste-idcC jC socC userC pagesC cF
coreP30B?000A servicebusC jelasticP30C0000? coreP30C?000A servicebusC storageC websiteC coC dlC goC lgC onC
siteC gsA gsA nesA gsA nesA gsA osA valerA xn--vler-qoaA gsA gsA osA gsA heroyA sandeA gsA gsA boA heroyA
xn--b-5gaA xn--hery-iraA gsA gsA gsA gsA valerA gsA gsA gsA gsA boA xn--b-5gaA gsA gsA gsA sandeA gsA sandeA
xn--hery-iraA xn--vler-qoaA cC rscC originP30D00005 goC homeC alC assoC atC auC beC bgC caC cdC chC cnC cyC
czC deC dkC eduC eeC esC fiC frC grC hrC huC ieC ilC inC intC isC itC jpC krC ltC luC lvC meC mkC mtC myC
netC ngC nlC noC nzC plC ptC roC ruC seC siC skC trC ukC usC cloudC osP30D50005 stgP30D:000< s3C betaC apA
griwA icA isA kmpspA konsulatA kppspA kwpA kwpspA mupA mwA oiaA oirmA okeA oowA oschrA oumA paA pinbA piwA
poA prA pspA psseA pupA rzgwA saA sdnA skoA soA srA starostwoA ugA ugimA umA umigA upowA uppoA usA uwA uzsA
wifA wiihA winbA wiosA witdA wiwA wkzA wsaA wskrA wsseA wuozA wzmiuwA zpA zpisdnA atF withC shopC hbC vpsC
hostingF landingF spectrumF vpsF iranC webC serviceC entC euC usC myC eu-west-1C us-east-1C amsC wawC staticC
directC dynC govA mymailerC adimoC barsyC barsyonlineC layershiftP30DF0003 myspreadshopC nh-servC no-ipC
retrosnubP30DI0006 apiC campaignC serviceC affinitylotteryC glugC lugC lugsC raffleentryC weeklylotteryC ccA
k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA
aws-govC ccA k12A libA ccA phxC ccA k12A libA ccA k12A libA ccA k12A libA ccA libA ccA k12A libA ccA k12A
libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12Q30DO000C libA ccA k12A
libA ccA k12A libA ann-arborA ccA cogA dstA eatonA genA k12A libA musA tecA washtenawA ccA k12A libA ccA k12A
libA ccA k12A ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A
libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA libA ccA k12A
libA ccA libA ghC glC ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA ccA k12A libA
aberdeenC bainbridge-islC bellevueC bremertonC ccA centraliaC chehalisC forksC gig-harborC hoquiamC k12A
keyportC kingstonC libA olympiaC port-angelesC port-ludlowC port-orchardC port-townsendC poulsboC redmondC
rentonC seaC seattleC sequimC sheltonC silverdaleC yarrow-pointC ccA k12A libA ccA ccA k12A libA dC onC
rV30EB004A melC airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC transfer-webappC
airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC airflowF lambda-urlC
transfer-webappC airflowF lambda-urlC transfer-webappC airflowF transfer-webappC airflowF lambda-urlC
transfer-webappC airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC airflowF
transfer-webappC airflowF transfer-webappC transfer-webappC airflowF transfer-webappC airflowF lambda-urlC
transfer-webappC airflowF transfer-webappC airflowF lambda-urlC transfer-webappC airflowF transfer-webappC
airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC airflowF transfer-webappC
airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC airflowF lambda-urlC
transfer-webappC airflowF transfer-webappC airflowF transfer-webappC airflowF lambda-urlC transfer-webappC
transfer-webappC airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC airflowF
lambda-urlC transfer-webappC transfer-webappC transfer-webapp-fipsC transfer-webappC transfer-webapp-fipsC
airflowF lambda-urlC transfer-webappC airflowF lambda-urlC transfer-webappC notebookC studioC notebookC
studioC labelingC notebookC studioC labelingC notebookC studioC notebookC studioC labelingC notebookC studioC
notebookC labelingC notebookC studioC labelingC notebookC studioC notebookC studioC notebookC labelingC
notebookC notebook-fipsC studioC notebookC notebook-fipsC labelingC notebookC studioC notebookC studioC
notebookC studioC notebookC studioC notebookC studioC labelingC notebookC studioC labelingC notebookC studioC
notebookC studioC notebookC studioC notebookC studioC notebookC studioC notebookC studioC labelingC notebookC
notebook-fipsC studioC labelingC notebookC notebook-fipsC studioC notebookC notebook-fipsC studioC
studio-fipsC notebookC notebook-fipsC studioC studio-fipsC notebookC notebook-fipsC studioC labelingC
notebookC notebook-fipsC studioC objectsC objectsC alp1C eurP30J30005 lbC s3C websiteC lbC s3C websiteC
fr-par-1C fr-par-2C nl-ams-1C cockpitC ddlC dtwhC fncS30J8000; ifrC k8sS30JC0007 kafkC mgdbC rdbC s3C
s3-websiteC scblC whmC privC pubC cockpitC ddlC dtwhC ifrC k8sS30JJ0007 kafkC mgdbC rdbC s3C s3-websiteC
scblC whmC cockpitC ddlC dtwhC ifrC k8sS30K10007 kafkC mgdbC rdbC s3C s3-websiteC scblC airflowP30K8000L
cn-north-1P30L4004H cn-northwest-1P310L0049 computeF ebP3155000L elbF onP3161001< cn-north-1P317=000B
cn-northwest-1P317O000B aws-cloud9P318A000@ cloud9P3191000E dualstackP319F0010 emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC af-south-1F
ap-east-1F ap-northeast-1F ap-northeast-2F ap-northeast-3F ap-south-1F ap-south-2F ap-southeast-1F
ap-southeast-2F ap-southeast-3F ap-southeast-4F ap-southeast-5F ap-southeast-7F ca-central-1F ca-west-1F
eu-central-1F eu-central-2F eu-north-1F eu-south-1F eu-south-2F eu-west-1F eu-west-2F eu-west-3F
il-central-1F me-central-1F me-south-1F sa-east-1F us-east-1F us-east-2F us-west-1F us-west-2F
aws-cloud9P31:F000@ cloud9P31;6000E dualstackP31;K000D emrappui-prodC emrnotebooks-prodC emrstudio-prodC
execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P31<?000@
bedrock-agentcoreP31<O000@ cloud9P31=?000E dualstackP31>40010 emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC analytics-gatewayC
aws-cloud9P31?4000@ bedrock-agentcoreP31?D000@ cloud9P31@4000E dualstackP31@I0010 emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
aws-cloud9P31AI000@ cloud9P31B9000E dualstackP31BN0010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC
execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P31CN000@
bedrock-agentcoreP31D>000@ cloud9P31DN000E dualstackP31EC0010 emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC bedrock-agentcoreP31FC000@
dualstackP31G30010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC
s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P31H3000@ bedrock-agentcoreP31HC000@
cloud9P31I3000E dualstackP31IH0010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C
s3-accesspointC s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P31JH000@
bedrock-agentcoreP31K8000@ cloud9P31KH000E dualstackP31L=0010 emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC dualstackP31M=0010
emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC
s3-websiteC dualstackP31N=0010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C
s3-accesspointC s3-object-lambdaC s3-websiteC bedrock-agentcoreP31O=000@ dualstackP31OM0010 execute-apiC s3C
s3-accesspointC s3-deprecatedC s3-object-lambdaC s3-websiteC bedrock-agentcoreP320M000@ aws-cloud9P321=000@
bedrock-agentcoreP321M000@ cloud9P322=000E dualstackP3232001N emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-object-lambdaC s3-websiteC
dualstackP3250001N emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC
s3-accesspoint-fipsC s3-fipsC s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P326N000@
bedrock-agentcoreP327>000@ cloud9P327N000E dualstackP328C0010 emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC dualstackP329C0010
emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC
s3-websiteC aws-cloud9P32:C000@ bedrock-agentcoreP32;3000@ cloud9P32;C000E dualstackP32<8000D emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
aws-cloud9P32<L000@ bedrock-agentcoreP32=<000@ cloud9P32=L000E dualstackP32>A0010 emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
bedrock-agentcoreP32?A000@ dualstackP32@10010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC
s3C s3-accesspointC s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P32A1000@
bedrock-agentcoreP32AA000@ cloud9P32B1000E dualstackP32BF0010 emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-deprecatedC s3-object-lambdaC s3-websiteC
aws-cloud9P32CF000@ bedrock-agentcoreP32D6000@ cloud9P32DF000E dualstackP32E;000D emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
aws-cloud9P32EO000@ bedrock-agentcoreP32F?000@ cloud9P32FO000E dualstackP32GD0010 emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
aws-cloud9P32HD000@ cloud9P32I40005 dualstackP32I90010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC
execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC dualstackP32J90010 emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC
aws-cloud9P32K9000@ cloud9P32KI000E dualstackP32L>000D emrappui-prodC emrnotebooks-prodC emrstudio-prodC
execute-apiC s3C s3-accesspointC s3-object-lambdaC s3-websiteC af-south-1F ap-east-1F ap-east-2F
ap-northeast-1F ap-northeast-2F ap-northeast-3F ap-south-1F ap-south-2F ap-southeast-1F ap-southeast-2F
ap-southeast-3F ap-southeast-4F ap-southeast-5F ap-southeast-6F ap-southeast-7F ca-central-1F ca-west-1F
eu-central-1F eu-central-2F eu-west-1F eu-west-2F eu-west-3F il-central-1F me-central-1F me-south-1F
mx-central-1F sa-east-1F us-east-1F us-east-2F us-gov-east-1F us-gov-west-1F us-northeast-1F us-west-1F
us-west-2F accesspointP32M20006 aws-cloud9P32M8000@ bedrock-agentcoreP32MH000@ cloud9P32N8000E
dualstackP32NM0010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC
s3-object-lambdaC s3-websiteC analytics-gatewayC aws-cloud9P32OM000@ bedrock-agentcoreP330=000@
cloud9P330M000E dualstackP331B001N emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C
s3-accesspointC s3-accesspoint-fipsC s3-deprecatedC s3-fipsC s3-object-lambdaC s3-websiteC analytics-gatewayC
aws-cloud9P333@000@ bedrock-agentcoreP3340000@ cloud9P334@000E dualstackP3355001N emrappui-prodC
emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-accesspoint-fipsC s3-deprecatedC
s3-fipsC s3-object-lambdaC s3-websiteC dualstackP3373001N emrappui-prodC emrnotebooks-prodC emrstudio-prodC
execute-apiC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-object-lambdaC s3-websiteC
bedrock-agentcoreP3391000@ dualstackP339A001N emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC
s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-object-lambdaC s3-websiteC aws-cloud9P33;?000@
bedrock-agentcoreP33;O000@ cloud9P33<?000E dualstackP33=4001N emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-object-lambdaC s3-websiteC
analytics-gatewayC aws-cloud9P33?2000@ bedrock-agentcoreP33?B000@ cloud9P33@2000E dualstackP33@G001N
emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC s3C s3-accesspointC s3-accesspoint-fipsC
s3-deprecatedC s3-fipsC s3-object-lambdaC s3-websiteC authC authC authC authC authC authC authC authC authC
authC authC authC authC authC authC authC authC authC authC authC authC authC authC authC authC authC authC
authC authC authC authC auth-fipsC authC auth-fipsC auth-fipsC auth-fipsC authC auth-fipsC authC auth-fipsC
ap-east-1F ap-northeast-1F ap-northeast-2F ap-south-1F ap-southeast-1F ap-southeast-2F ap-southeast-3F
ap-southeast-5F ca-central-1F eu-central-1F eu-north-1F eu-south-2F eu-west-1F eu-west-2F eu-west-3F
sa-east-1F us-east-1F us-east-2F us-west-2F krS33BE000< objectP33C10004 krS33C5000< krsS33CA000<
objectP33CM0009 krC sgC deS33D6000< krS33DB000< sgS33DN000< usS33E:000< objectP33EF0008 krC kr-naverC
kr-naver-devC jpC jp4P33EN0004 jp5P33F20004 krC s3-website-jpC objectP33F60012 o365C
code-builder-stgP33G8000> jC fltC usrC pagesC pages-researchC ioC eusc-de-east-1P33GF0016 custC reservdC
custC reservdC custC custC reservdC userC s3C s3C cdnC aC globalC aC bC globalC fr-1C lon-1C lon-2C ny-1C
ny-2C sg-1C blobC fileC webC atlC njsC ricC blobC fileC webC sslC appC osP33HL0005 jC custC chtrA parochA
pvtA ap-north-1F ap-south-1F ap-south-2F eu-central-1F eu-north-1F us-central-1F us-central-2F us-east-1F
us-east-2F us-west-1F us-west-2F us-west-3F it1C functionsC nodesC nodesC nodesC cn-north-1F cn-northwest-1F
dualstackP33I10010 emrappui-prodC emrnotebooks-prodC emrstudio-prodC execute-apiC rdsF s3C s3-accesspointC
s3-deprecatedC s3-object-lambdaC s3-websiteC dualstackP33J1000D emrappui-prodC emrnotebooks-prodC
emrstudio-prodC execute-apiC rdsF s3C s3-accesspointC s3-object-lambdaC s3-websiteC cn-north-1C
cn-northwest-1C cn-north-1P33JE000J cn-northwest-1P33K?000J notebookC studioC notebookC studioC
webview-assetsC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC vfsC webview-assetsC s3C
s3-accesspointC webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC
webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC vfsC
webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C
s3-accesspointC s3-websiteC consent-portalC s3C s3-accesspointC s3-websiteC webview-assetsC consent-portalC
vfsC webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C
s3-accesspointC s3-websiteC s3C s3-accesspointC s3-websiteC s3C s3-accesspointC s3-websiteC consent-portalC
s3C s3-accesspointC s3-websiteC consent-portalC webview-assetsC consent-portalC vfsC webview-assetsC s3C
s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-websiteC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC
s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC s3C
s3-accesspointC s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC
webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC consent-portalC s3C
s3-accesspointC s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC
s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC webview-assetsC
consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC vfsC s3C s3-accesspointC
s3-websiteC s3C s3-accesspointC s3-websiteC webview-assetsC vfsC webview-assetsC s3C s3-accesspointC mrapC
webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-websiteC webview-assetsC
consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-websiteC
webview-assetsC consent-portalC vfsC webview-assetsC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC
s3-websiteC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-websiteC consent-portalC s3C s3-accesspointC
s3-accesspoint-fipsC s3-fipsC s3-websiteC webview-assetsC consent-portalC vfsC webview-assetsC s3C
s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-websiteC webview-assetsC consent-portalC vfsC
webview-assetsC s3C s3-accesspointC s3-accesspoint-fipsC s3-fipsC s3-websiteC s3-websiteC krC s3-websiteC
s3-websiteC krC krsC s3-websiteC s3-websiteC s3-websiteC s3-websiteC krC sgC jpC jpC jpC jp4P33L90004
jp5P33L=0004 krC testP33LA0005 cognito-idpP33LF0006 transfer-webappC appC s3C s3-accesspointC s3-websiteC s3C
s3-accesspointC airflowF transfer-webappC airflowF transfer-webappC jpC jpC 001F authC

"""

    /// How many bytes the labels at the top take.
    static let topLevelLength = 13633

    /// What the list says of its age.
    static let version = "2026-10-22_08-36-41_UTC"
}
